import {
  flaky,
  handle,
  headers,
  host,
  items,
  type JobKind,
  keyed,
  last,
  note,
  onRows,
  points,
  tagged,
  timeout,
} from "./jobs-parts.ts";

/** Returns a kind of work that fails until the app is repaired, and succeeds in its next attempt. */
function failing(...steps: object[]): JobKind {
  const isAsking = steps.some((step) => "onRows" in step);
  return { program: { ...(isAsking && { points }), steps }, ends: "SUCCEEDED", first: "FAILED" };
}

function mapOfFlaky(tool: "send_note" | "send_keyed") {
  const one = { id: "one", call: `desk.${tool}`, entity: "ops", args: tagged("flaky-{row.id}"), timeout };
  return { id: "each", map: "items", concurrency: 4, onRows: { unknown: "doubt" }, do: [one] };
}

/** The kinds of work whose first attempt does not succeed, and which RetryJob continues. */
export const retriedKinds: Readonly<Record<string, JobKind>> = {
  "retried call": failing(note("one"), flaky(), note("two")),
  "retried write": failing(keyed("flaky-i3"), note("two")),
  "retried map": failing(items, mapOfFlaky("send_note"), last),
  "retried keyed map": failing(items, mapOfFlaky("send_keyed"), last),
  "retried pages": failing(
    {
      id: "items",
      http: { method: "GET", url: `${host}/flaky`, headers, query: { tag: { $ref: "input.tag" } } },
      rows: items.rows,
      timeout,
    },
    note("two"),
  ),
  "retried parallel": failing(
    {
      id: "ways",
      parallel: {
        left: [note("one"), flaky(), note("two")],
        right: [keyed("three"), { id: "rest", wait: "1s" }, note("four")],
      },
    },
    last,
  ),
  "retried until": failing(
    {
      id: "again",
      until: "steps.look.text.matches('[02468]$')",
      do: [{ ...last, id: "look", args: { id: "tick" } }, flaky(), note("round-{steps.look.text}")],
      every: "1s",
      max: 20,
    },
    last,
  ),
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  "retried if": failing({ id: "any", if: "true", then: [note("one"), flaky(), note("two")] }, last),
  "retried error block": failing({ ...flaky(), onError: handle("handled", "fail") }, note("two")),
  "retried skill": failing(
    note("one"),
    { id: "probe", run: "skills.probe", input: { tag: { $ref: "input.tag" } } },
    note("two"),
  ),
  // The skill has already written when it fails. Its first write must not be repeated, since an app could not recognize the repetition.
  "retried writing skill": failing(
    note("before"),
    { id: "late", run: "skills.late", input: { tag: { $ref: "input.tag" } } },
    note("after"),
  ),
  "retried map of skills": failing(
    items,
    {
      id: "each",
      map: "items",
      concurrency: 4,
      do: [{ id: "probe", run: "skills.probe", input: { tag: { $text: "{input.tag}.{row.id}" } } }],
    },
    note("two"),
  ),
  // Each row's skill has already written when it fails. The row's job continues where it stopped.
  "retried map of writing skills": failing(
    items,
    {
      id: "each",
      map: "items",
      concurrency: 4,
      do: [{ id: "late", run: "skills.late", input: { tag: { $text: "{input.tag}.{row.id}" } } }],
    },
    note("two"),
  ),
  // The job is cancelled in the middle. The retry continues with the rows that had not ended.
  "retried after cancel": {
    program: { points, steps: [items, { ...mapOfFlaky("send_note"), onRows, concurrency: 2 }, note("two")] },
    ends: "SUCCEEDED",
    first: "CANCELLED",
  },
  // A write in doubt: a person aborts the job, and the caller sends the write again.
  "resent unknown": {
    program: { steps: [{ ...note("lost"), timeout: "1s" }, note("two")] },
    ends: "SUCCEEDED",
    first: "ABORTED",
  },
};
