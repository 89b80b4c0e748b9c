//! From a setting's value to its meaning.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::error::Error;
use super::origin::Origin;
use super::settings::{Setting, Settings};
use super::units;
use super::value::Value;

impl Settings {
    /// Takes a duration within bounds.
    pub(crate) fn duration(
        &mut self,
        key: &str,
        bounds: RangeInclusive<Duration>,
    ) -> Result<Duration, Error> {
        self.duration_from(key, bounds).map(|(duration, _)| duration)
    }

    /// The same, and where it came from.
    pub(crate) fn duration_from(
        &mut self,
        key: &str,
        bounds: RangeInclusive<Duration>,
    ) -> Result<(Duration, Origin), Error> {
        let (text, origin) = self.text(key)?;
        let duration = units::duration(&text).map_err(|what| Error::setting(&origin, what))?;
        within(&duration, &bounds, &origin, |duration| units::show_duration(*duration))?;
        Ok((duration, origin))
    }

    /// Takes whole seconds within bounds, and where they came from.
    pub(crate) fn seconds_from(
        &mut self,
        key: &str,
        bounds: RangeInclusive<Duration>,
    ) -> Result<(Duration, Origin), Error> {
        let (text, origin) = self.text(key)?;
        let duration = units::seconds(&text).map_err(|what| Error::setting(&origin, what))?;
        within(&duration, &bounds, &origin, |duration| units::show_duration(*duration))?;
        if duration.subsec_millis() != 0 {
            return Err(Error::setting(&origin, format!("{text:?} is no whole number of seconds")));
        }
        Ok((duration, origin))
    }

    /// Takes true or false.
    pub(crate) fn switch(&mut self, key: &str) -> Result<bool, Error> {
        let Setting { value, origin } = self.take(key)?;
        let Value::Switch(switch) = value else { return Err(wrong_kind(&origin)) };
        Ok(switch)
    }

    /// Takes a size in bytes within bounds.
    pub(crate) fn size(&mut self, key: &str, bounds: RangeInclusive<usize>) -> Result<usize, Error> {
        let (text, origin) = self.text(key)?;
        let size = units::size(&text).map_err(|what| Error::setting(&origin, what))?;
        within(&size, &bounds, &origin, |size| units::show_size(*size))?;
        Ok(size)
    }

    /// Takes a whole number within bounds.
    pub(crate) fn count(&mut self, key: &str, bounds: RangeInclusive<u32>) -> Result<usize, Error> {
        let Setting { value, origin } = self.take(key)?;
        let Value::Number(number) = value else { return Err(wrong_kind(&origin)) };
        let bounds = i64::from(*bounds.start())..=i64::from(*bounds.end());
        within(&number, &bounds, &origin, i64::to_string)?;
        usize::try_from(number).map_err(|_| wrong_kind(&origin))
    }

    /// Takes an IP address and a port.
    pub(crate) fn address(&mut self, key: &str) -> Result<SocketAddr, Error> {
        let (text, origin) = self.text(key)?;
        text.trim().parse().map_err(|_| {
            let what = "is not an address; write IP:PORT, such as 127.0.0.1:8000 or [::1]:8000";
            Error::setting(&origin, format!("{text:?} {what}"))
        })
    }

    /// Takes one of a few words.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T, Error> {
        let (text, origin) = self.text(key)?;
        let chosen = choices.iter().find(|(name, _)| *name == text.trim());
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            Error::setting(&origin, format!("{text:?} is not one of {}", names.join(", ")))
        })
    }

    /// Takes a text, and where it came from.
    pub(crate) fn text(&mut self, key: &str) -> Result<(String, Origin), Error> {
        let Setting { value, origin } = self.take(key)?;
        let Value::Text(text) = value else { return Err(wrong_kind(&origin)) };
        Ok((text, origin))
    }

    /// Takes a list of texts, and where it came from.
    pub(crate) fn list(&mut self, key: &str) -> Result<(Vec<String>, Origin), Error> {
        let Setting { value, origin } = self.take(key)?;
        let Value::List(list) = value else { return Err(wrong_kind(&origin)) };
        Ok((list, origin))
    }
}

fn within<T: PartialOrd>(
    value: &T,
    bounds: &RangeInclusive<T>,
    origin: &Origin,
    show: impl Fn(&T) -> String,
) -> Result<(), Error> {
    if bounds.contains(value) {
        return Ok(());
    }
    let (value, least, most) = (show(value), show(bounds.start()), show(bounds.end()));
    Err(Error::setting(origin, format!("{value} is out of bounds; it takes {least} to {most}")))
}

/// Layers only replace a value by one of the same kind, so this is a reader that asks for another kind than the
/// reference has.
fn wrong_kind(origin: &Origin) -> Error {
    Error::setting(origin, "the built-in default is of another kind than the program reads")
}
