"""Every tunable number, with its unit and the reason for its value."""

from __future__ import annotations

# --- scan ---
BLOCK_BYTES = 4 * 1024 * 1024  # one read; larger blocks were no faster and cost memory (measured on 512 MiB)
LINE_BYTES = 1024 * 1024  # a longer line is cut into pieces of this size for matching
LINE_OVERLAP_BYTES = 4 * 1024  # so that no signature shorter than this is lost at the cut
MATCH_CHARS = 64 * 1024  # the window around a candidate that confirmation looks at
CONFIRM_TIMEOUT_S = 0.25  # one pattern on one record; past it the pattern is noted and skipped there
HITS_PER_PATTERN = 1000  # confirmed hits kept per pattern and source; then its literal leaves the database
HITS_PER_SOURCE = 10_000  # kept hits of all patterns (1 KB and 50 us each); past it a pattern saturates far sooner
HITS_PER_PATTERN_WHEN_FULL = 20  # more than any rule counts
PRESENCE_HITS = 20  # per pattern and source, of what matters only by being there: a handful survives a cut source
HITS_PER_PATTERN_IN_JOB = 25_000  # shared by a job's files, so that memory does not grow with the ranks
LEAST_HITS_PER_PATTERN = 20  # in each of them, however many there are: more than any rule counts
VAIN_COST = 10_000  # of candidates in vain, before the literals most come from are replaced: as much as a new database
ENTRIES = 2_000  # of a database that costs as much as that; one with more costs more
VAIN_TRIED = 6  # the cost of one that was tried; of one whose line lacks a word that the pattern needs it is 1, 4 us
IDLE_CANDIDATES = 50_000  # of saturated patterns, before their literals leave the database: they cost one, too
FEEDS_STRIDE = 64 * 1024  # bytes between two places of a block up to which its line feeds are counted on reading
FIRST_SCAN_BYTES = 256 * 1024  # looked at before the first such decision; the next looks are twice as long each
TIMEOUTS_PER_PATTERN = 8  # in one source; then the pattern is given up there: 2 s of a hostile log's time
RECORD_CHARS = 4_096  # text kept of a long record, around the match
HOT_LITERAL_LINES = 2_000  # of a million ordinary lines: a word that stands on more is searched with its neighbours
CANDIDATES_PER_SCAN = 100_000  # in one block; past it the block is searched line by line, in bounded memory
MIN_LITERAL_BYTES = 4  # a shorter literal stands on too many lines to be worth searching for
GOOD_LITERAL_BYTES = 6
HOLE_CHARS = 400  # the longest text an untyped hole takes
SAME_LINES = 4096  # contents of lines remembered, so that a line printed again and again is tried once: 1 MB
SAME_LINE_BYTES = 2 * 1024  # a longer one is not remembered
SPAN_LINES = 12  # the most physical lines one signature may span
PASTE_BYTES = 1024 * 1024  # up to this size a source gets the costly repairs (hard-wrapped lines, documents)
FILE_PASTE_BYTES = 64 * 1024  # the same for files and members: a job has thousands, and few were pasted

# --- ingest ---
ARCHIVE_DEPTH = 4  # archives within archives
ARCHIVE_MEMBERS = 100_000
ARCHIVE_RATIO = 2_000  # decompressed : compressed, once RATIO_FLOOR_BYTES have come out
RATIO_FLOOR_BYTES = 64 * 1024 * 1024
TOTAL_BYTES = 1024 * 1024 * 1024 * 1024  # 1 TiB: a job's worth of logs, and an end to a bomb
TURN_BYTES = 8 * 1024 * 1024  # a source newest first of up to this size is put in order, which holds 75 MiB
PROBE_LINES = 200  # lines looked at to recognise wrappers
FILE_PROBE_LINES = 60  # the same in a small file: a job has thousands, and each line looked at takes 20 us

# --- rule files ---
RULE_FILE_BYTES = 512 * 1024
REGEX_CHARS = 4_000
PACK_ARCHIVE_BYTES = 64 * 1024 * 1024  # of a pack that is pulled, compressed
PACK_BYTES = 256 * 1024 * 1024  # of its files that are kept: 1,000 rules take 5 MB
PACK_FILES = 50_000  # in an archive or repository that a pack is taken from, kept or not
PULL_S = 120.0  # one step of fetching a pack

# --- evaluate and report ---
COMBINATIONS = 10_000  # of hits tried for one `where`
EVIDENCE_PER_FINDING = 8
EVIDENCE_CHARS = 2_000
CAPTURE_CHARS = 200  # of a capture set into a title or a text; the whole value stays in `captures`
FINDINGS_PER_RULE = 20  # that differ in their fingerprint captures; more tell a reader nothing new
WINDOW_HITS = 500_000  # hits looked at over all windows of one `within`, so that a flood ends in bounded time
SUSPECTS = 12
GRAVE_SUSPECT_WEIGHT = 65  # an exception, a crash, a logged error: with such a one unknown, a symptom is not the answer
SUSPECT_WEIGHT = 50  # below it a suspect is only worth a look: warnings stand in healthy logs too
SUSPECT_HITS = 400  # per pattern and source

# --- HTTP ---
BODY_BYTES = 64 * 1024 * 1024
REQUEST_S = 20.0

# --- the service's store ---
SAVED_REPORTS = 50_000  # at some 25 kB each
UNKNOWN_FAULTS = 10_000  # different ones; those seen longest ago go first, for a hostile sender makes new ones all day
FEEDBACK_ROWS = 100_000  # the newest

# --- the job part of a report ---
TAIL_BYTES = 512 * 1024  # of a source's end, in which the last progress is looked for: 170 tracebacks of 3 kB
FAR_TAIL_BYTES = 64 * 1024 * 1024  # looked at where the end shows no step and a sample of it does: 0.3 s at most
FAR_PIECE_BYTES = 1024 * 1024
NEAR_TAIL_BYTES = 64 * 1024  # looked at first
FLIGHT_BYTES = 16 * 1024 * 1024  # of a flight recorder dump: 2,000 entries without stacks are 2 MB
FLIGHT_WORKS = 3  # collectives of a rank and group that have not ended: it waits in the first
PROGRESS_LINES = 20_000  # looked at per source: a step of 10,000 ranks that share one log, twice
PROGRESS_PER_RANK = 3  # steps kept per rank, to compare clocks by
CLOCK_GAP_S = 60.0  # clocks of hosts that differ by more are set right or not compared; less is ordinary drift
CLOCK_SPREAD_S = 10.0  # steps that two hosts printed must agree so far on the difference of their clocks
TIMELINE_ROWS = 20
STRAGGLER_S = 30.0  # a rank whose last progress is older than the others' by less is none
STRAGGLERS = 50
