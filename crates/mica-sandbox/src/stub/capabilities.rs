//! Giving up what root has. A command that runs as root keeps the name and owns root's files, and nothing else.

use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::Stop;
use crate::tier::Tier;

/// Gives all capabilities up, for good: neither `exec` nor a changed user brings one back.
pub(crate) fn give_up(tier: Tier) -> Result<(), Stop> {
    let held = rustix::thread::capabilities(None).map_err(Stop::at("capabilities"))?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().iter() {
            // The kernel may know fewer than the library does.
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
        let bits = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        rustix::thread::set_capabilities_secure_bits(bits).map_err(Stop::at("capabilities: root"))?;
    } else if tier == Tier::Namespaces {
        return Err(Stop::new("capabilities", "the user namespace came without them"));
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(Stop::at("capabilities: giving up"))
}
