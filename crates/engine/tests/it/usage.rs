//! What sessions cost.

use crate::setup::*;

#[test]
fn peak_memory_is_the_commands_own_however_large_the_server_is() {
    under_each_containment(async |engine| {
        let ballast = vec![1u8; 200 << 20];
        let small = run(engine, line("true")).await.outcome.usage.max_rss_kib;
        assert!(small < 20 << 10, "true used {small} KiB");
        let large = run(engine, ask(&["touch-memory", "64"])).await.outcome.usage.max_rss_kib;
        assert!(large > 64 << 10, "64 MiB measured as {large} KiB");
        drop(ballast);
    });
}

#[test]
fn processor_time_of_waited_for_children_counts() {
    under_each_containment(async |engine| {
        let busy = "for i in 1 2 3; do bash -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done";
        let outcome = run(engine, script(busy)).await.outcome;
        assert!(outcome.usage.user > std::time::Duration::ZERO);
        assert!(outcome.wall >= outcome.usage.user / 4);
    });
}
