//! What workspaces have written to caches, mounted once for all of their clients.

use std::rc::Rc;

use runward_model::Caches;
use runward_sandbox::{Layer, Namespaces};

/// Of those that nobody uses, this many stay mounted for the next client of their workspace.
const IDLE: usize = 8;

/// Layers that are mounted, least recently used first; `None` where that did not work and is not tried again.
#[derive(Debug, Default)]
pub(crate) struct MountedLayers(Vec<(Caches, Option<Rc<Layer>>)>);

impl MountedLayers {
    /// The layer for these caches; none where this host mounts none.
    pub(crate) fn layer(
        &mut self,
        namespaces: &Namespaces,
        caches: &Caches,
        most_memory: u64,
    ) -> Option<Rc<Layer>> {
        // What stays as it is in them is each sandbox's own affair.
        let wanted = Caches { around: Vec::new(), kept: Vec::new(), guarded: Vec::new(), ..caches.clone() };
        let known = self.0.iter().position(|(known, _)| *known == wanted).map(|place| self.0.remove(place));
        let (wanted, layer) = known.unwrap_or_else(|| {
            let layer = Layer::mount(namespaces, caches, most_memory).ok().map(Rc::new);
            (wanted, layer)
        });
        self.0.push((wanted, layer.clone()));
        self.let_go();
        layer
    }

    /// Others may take what is unmounted.
    fn let_go(&mut self) {
        let is_idle =
            |layer: &Option<Rc<Layer>>| layer.as_ref().is_none_or(|layer| Rc::strong_count(layer) == 1);
        let mut surplus = self.0.iter().filter(|(_, layer)| is_idle(layer)).count().saturating_sub(IDLE);
        self.0.retain(|(_, layer)| {
            let goes = surplus > 0 && is_idle(layer);
            surplus -= usize::from(goes);
            !goes
        });
    }
}
