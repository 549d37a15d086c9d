import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  GetBacklogResponseSchema,
  type GetStartResponse,
  GetStartResponseSchema,
  type QuerySeriesResponse,
  QuerySeriesResponseSchema,
  StatsService,
} from "@svc/gen/stats";
import { type GetBacklogResponse, JobStatus, Series } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { parseMoment } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { enumWords, numberText } from "../text/plain.ts";
import { factLines, tableLines, timeText } from "../text/table.ts";

type StatsOptions = {
  readonly since?: number;
  readonly until?: number;
  readonly subscription?: string;
  readonly tool?: string;
  readonly first?: true;
};

/** The command `svc stats`, which shows what is waiting in the project now, or what happened in a period. */
export const addStatsCommand = command(
  StatsService.method.getBacklog,
  {
    says: "show what is waiting in the project now, or with --since what happened in a time",
    options: [
      [
        "--since <when>",
        "counts since this time: 2h for two hours ago, or 2026-03-14T09:00:00Z",
        { parse: parseMoment },
      ],
      ["--until <when>", "counts until this time, with --since", { parse: parseMoment }],
      ["--subscription <id>", "with --since, only deliveries to this subscription, sub_…"],
      ["--tool <slug>", "with --since, only calls of this tool"],
      ["--first", "when the project first used each part of svc, and the addresses to use", { conflicts: "since" }],
    ],
    json: "the answer as JSON",
    also: [
      [StatsService.method.querySeries, "--since"],
      [StatsService.method.getStart, "--first"],
    ],
    examples: [
      "svc stats",
      "svc stats --first",
      "svc stats --since 24h",
      "svc stats --since 7d --subscription sub_01h455vb4pex5vsknk084sn02q",
    ],
  },
  async ({
    values: { since, until, subscription: subscriptionId = "", tool: toolSlug = "", first },
    context,
    project,
    asJson,
  }: Run<StatsOptions>) => {
    const { stats } = await project();
    if (first === true) {
      const start = await stats.getStart({});
      if (asJson) return context.print(messageText(GetStartResponseSchema, start));
      for (const line of startLines(start)) context.print(line);
      return;
    }
    if (since === undefined) {
      const backlog = await stats.getBacklog({});
      if (asJson) return context.print(messageText(GetBacklogResponseSchema, backlog));
      for (const line of backlogLines(backlog)) context.print(line);
      return;
    }
    const range = { since: timestampFromMs(since), ...(until !== undefined && { until: timestampFromMs(until) }) };
    const found = await stats.querySeries({ ...range, subscriptionId, toolSlug });
    if (asJson) return context.print(messageText(QuerySeriesResponseSchema, found));
    for (const line of seriesLines(found)) context.print(line);
  },
);

const countedMax = 10_000;

function countText(count: number): string {
  return count >= countedMax ? `${numberText(countedMax)} or more` : numberText(count);
}

function backlogLines(backlog: GetBacklogResponse): string[] {
  const { oldestAskAt, worstSubscriptions } = backlog;
  const jobs = backlog.jobs.map(({ status, count }) => `${countText(count)} ${enumWords(JobStatus, status)}`);
  const oldest = oldestAskAt === undefined ? "" : `, the oldest since ${timeText(oldestAskAt)}`;
  const facts = factLines([
    ["pending deliveries", countText(backlog.pendingDeliveries)],
    ["failed permanently in 24 h", numberText(backlog.deadLetters)],
    ["endpoints that fail", numberText(backlog.failingSubscriptions)],
    ["endpoints given up", numberText(backlog.givenUpSubscriptions)],
    ["jobs", jobs.join(", ") || "none"],
    ["asks", `${countText(backlog.pendingAsks)}${oldest}`],
    ["accounts to reconnect", countText(backlog.expiredAccounts)],
  ]);
  if (worstSubscriptions.length === 0) return facts;
  const rows = worstSubscriptions.map(({ subscriptionId, pendingDeliveries, oldestAt, health }) => {
    return [
      subscriptionId,
      countText(pendingDeliveries),
      timeText(oldestAt),
      health?.state.replaceAll("_", " ") ?? "-",
    ];
  });
  return [...facts, "", ...tableLines(["SUBSCRIPTION", "PENDING", "OLDEST", "HEALTH"], rows)];
}

function startLines(start: GetStartResponse): string[] {
  const timeOf = (at: GetStartResponse["firstEventAt"]) => (at === undefined ? "none yet" : timeText(at));
  return factLines([
    ["first event", timeOf(start.firstEventAt)],
    ["first tool call", timeOf(start.firstCallAt)],
    ["first job", timeOf(start.firstJobAt)],
    ["first call of an agent", timeOf(start.firstAgentCallAt)],
    ["sandbox", start.sandbox ? "on" : "off"],
    ["address for agents", start.mcpUrl],
    ["public address", start.publicUrl],
  ]);
}

function seriesLines({ lines, latencies }: QuerySeriesResponse): string[] {
  const counts = lines.map(({ series, outcome, counts }) => {
    return [enumWords(Series, series), outcome, numberText(counts.reduce((sum, count) => sum + count, 0))];
  });
  const times = latencies.map(({ series, total }) => {
    const { p50Ms = 0, p95Ms = 0, p99Ms = 0, count = 0 } = total ?? {};
    return [enumWords(Series, series), ...[p50Ms, p95Ms, p99Ms].map((ms) => String(Math.round(ms))), numberText(count)];
  });
  return [
    ...tableLines(["SERIES", "OUTCOME", "COUNT"], counts),
    ...(times.length === 0 ? [] : ["", ...tableLines(["LATENCY, ABOUT", "P50 MS", "P95 MS", "P99 MS", "OF"], times)]),
  ];
}
