//! What the saboteur does wrong with a snapshot.
//!
//! Knows nothing about how it was loaded.

use std::collections::BTreeMap;

use runtime_ports::{Digest, ResourceSnapshot};

use super::ResourceFault as Fault;

/// The snapshot as it is told, in load number `number`.
pub(super) fn spoiled(
    fault: Fault,
    loaded: ResourceSnapshot,
    first: &ResourceSnapshot,
    number: u32,
) -> ResourceSnapshot {
    let ResourceSnapshot { instructions, skills, digest } = match fault {
        Fault::LoadsOnce => return first.clone(),
        _ => loaded,
    };
    let digest = spoiled_digest(fault, &instructions, &skills, number).unwrap_or(digest);
    let (before, skills_before) = (instructions.clone(), skills.clone());
    let instructions = spoiled_instructions(fault, instructions);
    let skills = spoiled_skills(fault, skills, first);
    if (&instructions, &skills) == (&before, &skills_before) {
        return ResourceSnapshot { instructions, skills, digest };
    }
    ResourceSnapshot::new(instructions, skills)
}

fn spoiled_instructions(fault: Fault, mut instructions: Vec<String>) -> Vec<String> {
    match fault {
        Fault::InventsInstructions if instructions.is_empty() => vec!["be helpful".into()],
        Fault::TrimsTexts => instructions.iter().map(|text| text.trim().to_owned()).collect(),
        Fault::CutsLongTexts => {
            instructions.iter_mut().for_each(|text| text.truncate(64 * 1_024));
            instructions
        }
        Fault::SortsInstructions => {
            instructions.sort();
            instructions
        }
        Fault::JoinsInstructions if instructions.len() > 1 => vec![instructions.concat()],
        _ => instructions,
    }
}

fn spoiled_skills(
    fault: Fault,
    mut skills: BTreeMap<String, String>,
    first: &ResourceSnapshot,
) -> BTreeMap<String, String> {
    match fault {
        Fault::HidesSkills => BTreeMap::new(),
        Fault::HasRoomForTen => skills.into_iter().take(10).collect(),
        Fault::CutsLongSkills => {
            skills.values_mut().for_each(|text| text.truncate(64 * 1_024));
            skills
        }
        Fault::LowersNames => {
            skills.into_iter().map(|(name, text)| (name.to_lowercase(), text)).collect()
        }
        Fault::KeepsTheRemoved => {
            skills.extend(first.skills.clone());
            skills
        }
        _ => skills,
    }
}

fn spoiled_digest(
    fault: Fault,
    instructions: &[String],
    skills: &BTreeMap<String, String>,
    number: u32,
) -> Option<String> {
    let digest = match fault {
        Fault::ShoutsDigests => {
            return Some(Digest::of_json(&(instructions, skills)).to_string().to_uppercase());
        }
        Fault::SaltsDigests => Digest::of_json(&(instructions, skills, number)),
        Fault::DigestsNoSkills => Digest::of_json(&instructions),
        Fault::DigestsNoTexts => Digest::of_json(&(instructions.len(), skills.len())),
        Fault::DigestsNoEnds => Digest::of(instructions.concat().as_bytes()),
        _ => return None,
    };
    Some(digest.to_string())
}
