//! Contacts that were once wrong without a report, and the energy of a heap.

use super::passes;

#[test]
fn a_thin_probe_keeps_its_contact() {
    passes("T01");
}

#[test]
fn grips_hold_round_bodies() {
    passes("T02");
    passes("T03");
}

#[test]
fn a_chain_whips_and_keeps_its_energy() {
    passes("T05");
}

#[test]
fn a_needle_brings_what_it_has() {
    passes("T06");
}

#[test]
fn a_heap_that_falls_gains_no_energy() {
    passes("MR13");
}
