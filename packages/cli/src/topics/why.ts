import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  StatsService,
  type TraceGap,
  TraceGapReason,
  TraceKind,
  type TraceNode,
  type TraceResponse,
} from "@svc/gen/stats";
import type { SvcClient } from "@svc/sdk";
import type { Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { countUpTo, parseMoment } from "../command/options.ts";
import { call } from "../command/topic.ts";
import { enumWords, numberText, plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Kinds of failures, as the option `--kind` names them. */
const failureKinds = { call: TraceKind.CALL, delivery: TraceKind.DELIVERY, job: TraceKind.JOB };

/** The command `svc failures`, which lists groups of failures with the same cause. */
export const addFailuresCommand = call(StatsService.method.listFailures, {
  says: "list what fails: failed deliveries, calls and jobs, in groups with the same cause",
  options: [
    ["--since <when>", "count failures since this time: 2h for two hours ago, or 2026-03-14T09:00:00Z (default: 24h)"],
    ["--until <when>", "count failures until this time (default: now)"],
    ["--kind <kind>", "only failures of this kind", { choices: Object.keys(failureKinds) }],
  ],
  request: ({ values: { kind } }: Run<{ readonly kind?: keyof typeof failureKinds }>) => {
    return { kinds: kind === undefined ? [] : [failureKinds[kind]] };
  },
  json: "the answer as JSON",
  shows: ({ groups }) =>
    groups.length === 0
      ? []
      : tableLines(
          ["COUNT", "KIND", "LAST", "NEWEST", "FAILURE", "WHY"],
          groups.map(({ count, kind, lastAt, newestId, fingerprint, title }) => [
            numberText(count),
            enumWords(TraceKind, kind),
            timeText(lastAt),
            newestId,
            fingerprint,
            plainText(title),
          ]),
        ),
  notes: ({ groups }) =>
    groups.length === 0 ? "Nothing failed in this time." : "`svc why <id>` explains one of them.",
  examples: ["svc failures", "svc failures --since 1h --kind job", "svc failures --json"],
});

/** Returns the newest failure of the largest group of the last hour. Throws CommandError if nothing failed. */
async function findLargest({ stats }: SvcClient): Promise<string> {
  const { groups } = await stats.listFailures({ since: timestampFromMs(parseMoment("1h")) });
  const [largest] = groups;
  if (largest === undefined) throw new CommandError("nothing failed in the last hour; name what you want to explain");
  return largest.newestId;
}

/** The command `svc why`, which shows why a resource exists or failed: the chain of causes, then the tree of causes and effects. */
export const addWhyCommand = call(StatsService.method.trace, {
  says: "show why an event, delivery, run, job, ask or call exists or failed, and what it caused",
  takes: {
    "[id]":
      "id of an event, delivery, subscription, run, schedule, job, ask, tool call or account, such as job_… (default: the newest failure of the largest group of the last hour)",
  },
  request: async ({ values: { id }, project }: Run<{ readonly id?: string }>) => {
    return { id: id ?? (await findLargest(await project())) };
  },
  options: [
    [
      "--nodes <count>",
      "largest number of resources to show, at most 200",
      { fills: "maxNodes", parse: countUpTo(200), default: 60 },
    ],
  ],
  json: "the answer as JSON",
  shows: (trace) => [...whyLines(trace), "", ...treeLines(trace), ...trace.gaps.map(gapText)],
  notes: (_, { values: { id } }) => (id === undefined ? "`svc failures` lists the other failures." : []),
  examples: [
    "svc why",
    "svc why job_01h455vb4pex5vsknk084sn02q",
    "svc why dlv_01h455vb4pex5vsknk084sn02q --json",
    "svc why evt_01h455vb4pex5vsknk084sn02q --nodes 200",
  ],
});

/** The command `svc find`, which finds resources of the project by id, by a part of the id, or by text. */
export const addFindCommand = call(StatsService.method.search, {
  says: "find events, deliveries, jobs, calls, schedules, endpoints, saved tools and people by id or text",
  takes: { "<text...>": "an id, the beginning or the last 4 characters of an id, or text such as the title of a job" },
  options: [["--limit <count>", "largest number of results, at most 50", { parse: countUpTo(50), default: 20 }]],
  request: ({ values: { text } }) => ({ query: [text].flat().join(" ") }),
  shows: ({ results }) =>
    results.length === 0
      ? []
      : tableLines(
          ["KIND", "ID", "STATE", "TITLE"],
          results.map(({ kind, id, state, title }) => [
            enumWords(TraceKind, kind),
            plainText(id),
            state === "" ? "-" : state,
            plainText(title),
          ]),
        ),
  notes: ({ results, partial }) => [
    ...(results.length === 0 ? ["Nothing matches. svc searches ids, titles, addresses and names."] : []),
    ...(partial.length === 0
      ? []
      : [`More may match of these kinds: ${partial.map((kind) => enumWords(TraceKind, kind)).join(", ")}.`]),
  ],
  examples: ["svc find job_01h455", "svc find 02q3", "svc find weekly report --json"],
});

/** Returns the chain of causes as lines, each cause with the command that helps. */
function whyLines({ why }: TraceResponse): string[] {
  return why.flatMap(({ sentence, command }, index) => {
    const line = `${index === 0 ? "" : "because: "}${plainText(sentence)}`;
    return command === "" ? [line] : [line, `  more: ${plainText(command)}`];
  });
}

/** Returns the causes and effects as a tree, which begins at the first cause. A star marks the resource that the user named. */
function treeLines({ focus, nodes, edges }: TraceResponse): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const printed = new Set<string>();
  const below = (id: string) => edges.filter(({ from }) => from === id).flatMap(({ to }) => byId.get(to) ?? []);
  const lines: string[] = [];
  const print = (node: TraceNode, depth: number): void => {
    if (printed.has(node.id)) return;
    printed.add(node.id);
    lines.push(`${"  ".repeat(depth)}${nodeText(node, focus)}`);
    for (const one of below(node.id)) print(one, depth + 1);
  };
  // Posts and events come before schedules, endpoints and accounts, which would otherwise take the events' effects into their own trees.
  const roots = nodes.filter(({ id }) => !edges.some(({ to }) => to === id));
  for (const root of roots.toSorted((a, b) => rankOf(a, focus) - rankOf(b, focus))) print(root, 0);
  return lines;
}

function rankOf({ id, kind }: TraceNode, focus: string): number {
  if (kind === TraceKind.POST || kind === TraceKind.EVENT || id === focus) return 0;
  return kind === TraceKind.JOB || kind === TraceKind.SCHEDULE ? 1 : 2;
}

function nodeText({ id, title, summary, at, isFolded }: TraceNode, focus: string): string {
  const mark = id === focus ? "* " : "";
  const text = `${mark}${plainText(title)}: ${plainText(summary)}`;
  if (isFolded) return text;
  return id.startsWith("post_of_") ? text : `${text}  ${id}  ${timeText(at)}`;
}

const gapWords: Readonly<Record<number, string>> = {
  [TraceGapReason.DELETED]: "deleted, or older than svc keeps",
  [TraceGapReason.NOT_PERMITTED]: "not permitted for this key",
  [TraceGapReason.NOT_SEARCHED]: "more may exist, because the search ended at its limit",
  [TraceGapReason.NODE_LIMIT]: "more exist than --nodes allows",
};

function gapText({ nodeId, kind, reason }: TraceGap): string {
  return `missing at ${nodeId}: ${enumWords(TraceKind, kind)}, ${gapWords[reason] ?? "for an unknown reason"}`;
}
