//! Decides which scenarios the suite of workspaces has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{WorkspaceHarness, WorkspaceNeed, scenarios};

/// Makes one test for each scenario of the suite of `WorkspaceSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! workspace_conformance {
    ($harness:expr) => {
        $crate::__workspace_scenarios! { __scenario_tests { workspace, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __workspace_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        reading_never_leads_out [] "no hostile path is read: each is Forbidden"
        writing_never_leads_out [] "no hostile path is written: each is Forbidden, and nothing appears outside"
        listing_never_leads_out [] "no hostile path is listed: each is Forbidden"
        searching_never_leads_out [] "no hostile path is searched: each is Forbidden"
        commands_never_start_outside [Commands] "no command runs in a folder at a hostile path: each is Forbidden"
        a_refusal_tells_nothing [] "a refused path gets the same answer whether or not something is there"
        reading_follows_no_link_out [Links] "no file is read through a link that leads out"
        writing_follows_no_link_out [Links] "no file or folder is made or changed through a link that leads out"
        listing_follows_no_link_out [Links] "no folder is listed through a link that leads out"
        searching_follows_no_link_out [Links] "no search goes through a link that leads out"
        a_refused_link_tells_nothing [Links] "a link that leads out gets the same answer whether or not something is there"
        a_loop_of_links_ends [Links] "a loop of links is a failure, not a hang"

        what_was_written_is_read [] "any bytes that were written are read back"
        writing_replaces_the_whole_file [] "writing replaces all of a file, however long it was"
        writing_makes_missing_folders [] "writing makes the folders above the file"
        a_missing_file_is_not_found [] "what does not exist is NotFound"
        a_folder_is_no_file [] "a folder is neither read nor replaced as a file"
        a_file_is_no_folder [] "a file is not listed, and nothing is made below it"
        protected_names_are_not_written [Protecting] "writing a protected name, anywhere on a path, is Forbidden"
        writes_at_once_leave_one_whole [] "of writes to one file at once, one remains, whole"
        a_workspace_describes_itself [] "a workspace has something to say about itself"

        a_list_is_one_level_in_order [] "a list is one level, sorted by path, with folders and sizes told apart"
        the_root_has_two_names [] "the empty path and the dot are the root"
        a_list_leaves_out_what_is_ignored [Ignoring] "ignored entries are not listed"
        a_search_is_literal [] "a search finds the lines that hold the text, letter by letter"
        a_search_is_recursive_in_order [] "hits come from all levels, by path and line"
        a_search_stays_below_its_path [] "a search finds nothing beside the path that it was given"
        a_search_honours_its_limit [] "a search gives the first hits, and no more than its limit"
        a_search_names_what_it_skipped [] "a file that is not searched is named, with the reason"
        a_search_leaves_out_what_is_ignored [Ignoring] "ignored files are not searched"

        a_command_gives_output_and_code [Commands] "a command that fails is Ok, with its output and exit code"
        a_signal_is_told_in_the_code [Commands] "a command that a signal ends has the exit code 128 + signal"
        a_command_runs_in_its_folder [Commands] "a command runs in the folder that it was given, else in the root"
        a_command_without_folder_does_not_run [Commands] "a command in a folder that does not exist fails, not committed"
        long_output_keeps_head_and_tail [Commands] "output that is too long keeps head and tail and says so, else it is whole"
        a_command_leaves_nothing_running [Commands] "what a command started ends with it"
        cancelling_a_command_ends_it [Commands] "a cancelled command ends soon: Canceled, unknown, with all that it started"
        a_deadline_ends_a_command [Commands] "a command ends at its deadline: Timeout, unknown"

        a_cancelled_call_changes_nothing [] "a call under a cancelled operation is Canceled, not committed, and changes nothing"
        a_late_call_changes_nothing [] "a call after its deadline is Timeout, not committed, and changes nothing"
        an_interrupted_write_is_whole_or_absent [] "a dropped write leaves the old file or the new one"
    } };
}

crate::__workspace_scenarios! {
    __scenario_table { dyn WorkspaceHarness, WorkspaceNeed, scenarios }
}
