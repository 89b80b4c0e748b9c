//! One suite of behaviours, written once and run over every door: it shows that the doors are thin.

mod door;
mod engine;
mod mcp;
mod raw;
mod run_remote;
mod suite;

use door::{Door, Setup};
use runward_testkit::mcp::{Era, HttpClient, StdioClient};

/// Every behaviour as a test of one door.
macro_rules! behaves {
    ($door:ident, $open:expr, [$($behaviour:ident)*]) => {
        mod $door {
            $(
                #[test]
                fn $behaviour() {
                    super::suite::$behaviour($open);
                }
            )*
        }
    };
}

/// The behaviours of every door whose replies are bounded, and those in brackets.
macro_rules! behaves_fully {
    ($door:ident, $open:expr, [$($more:ident)*]) => {
        behaves_like_a_door!($door, $open, [
            a_flood_is_cut_in_the_middle_and_says_by_how_much
            a_child_left_behind_does_not_keep_the_answer
            $($more)*
        ]);
    };
}

/// The behaviours of every door, and those in brackets.
macro_rules! behaves_like_a_door {
    ($door:ident, $open:expr, [$($more:ident)*]) => {
        behaves!($door, $open, [
            outputs_and_a_clean_exit_are_reported
            an_exit_code_is_no_error
            death_by_signal_is_named_and_no_error
            given_input_is_read_to_its_end
            without_input_there_is_nothing_to_wait_for
            a_mebibyte_of_input_comes_back_whole
            a_directory_is_entered
            a_directory_that_is_missing_is_refused
            a_command_that_is_not_allowed_is_refused
            a_program_that_is_nowhere_is_refused
            a_timeout_keeps_what_was_printed_and_ends_the_whole_family
            a_timeout_gets_through_a_flood
            a_cancelled_call_ends_the_whole_family
            a_call_after_one_that_was_stopped_is_not_stopped_with_it
            a_caller_that_goes_away_ends_the_whole_family
            a_server_that_is_told_to_stop_ends_the_whole_family
            calls_run_side_by_side
            bytes_that_are_no_text_are_replaced_and_named
            $($more)*
        ]);
    };
}

behaves_fully!(over_the_engine, super::engine::open, []);
behaves_fully!(
    over_stdio_since_2026_07_28,
    super::stdio_modern,
    [a_killed_server_leaves_nobody_behind memory_stays_bounded_in_a_flood]
);
behaves_fully!(
    over_stdio_of_2025_11_25,
    super::stdio_legacy,
    [a_killed_server_leaves_nobody_behind memory_stays_bounded_in_a_flood]
);
behaves_fully!(
    over_http_since_2026_07_28,
    super::http_modern,
    [a_killed_server_leaves_nobody_behind memory_stays_bounded_in_a_flood]
);
behaves_fully!(
    over_http_of_2025_11_25,
    super::http_legacy,
    [a_killed_server_leaves_nobody_behind memory_stays_bounded_in_a_flood]
);

behaves_like_a_door!(
    over_raw,
    super::raw::open,
    [
        a_child_left_behind_does_not_keep_the_answer
        a_flood_arrives_whole_and_memory_stays_bounded
        a_killed_server_leaves_nobody_behind
    ]
);
behaves_like_a_door!(
    over_run_remote,
    super::run_remote::open,
    [a_flood_arrives_whole_and_memory_stays_bounded a_killed_server_leaves_nobody_behind]
);

fn stdio_modern(setup: &Setup) -> Box<dyn Door> {
    mcp::open(|command| StdioClient::start(command, Era::Modern), &["stdio"], setup)
}

fn stdio_legacy(setup: &Setup) -> Box<dyn Door> {
    mcp::open(|command| StdioClient::start(command, Era::Legacy), &["stdio"], setup)
}

fn http_modern(setup: &Setup) -> Box<dyn Door> {
    mcp::open(|command| HttpClient::start(command, Era::Modern), &[], setup)
}

fn http_legacy(setup: &Setup) -> Box<dyn Door> {
    mcp::open(|command| HttpClient::start(command, Era::Legacy), &[], setup)
}
