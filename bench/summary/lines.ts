/** A cell of a case's table, by the first cells of its row and its column. */
type CellPlace = { readonly row: string | readonly string[]; readonly column: string };

/** A line of the page's first table, and the source of its figures in the pages of the cases. */
export type SummaryLine = {
  readonly what: string;
  /** Name of the case. */
  readonly from: string;
  /** Cells with the result of the service. Default: the figures below show it. */
  readonly own?: readonly CellPlace[];
  /** Cells of peers and limits, by their name in the line. */
  readonly others?: Readonly<Record<string, CellPlace>>;
  /** Figures with an aim, by their name in the line. If several match, the line shows the one that is worst compared with its aim. */
  readonly figures: Readonly<Record<string, RegExp>>;
};

const togetherRow = "1,000 steps of one workflow, 32 at once";
const gapRow = "100 steps: one request to the next";
const wholeRow = "one job: submitted to result";

const inColumn = (column: string) => (row: string | readonly string[]) => ({ row, column });
const perSecond = inColumn("a second");
const median = inColumn("p50");
const deliveries = inColumn("deliveries/s");
const posts = inColumn("posts acknowledged/s");
const calls = inColumn("calls/s");
const before = inColumn("a second, before");

/** Lines of the page's first table, in order. */
export const summaryLines: readonly SummaryLine[] = [
  {
    what: "post delivered, outcome recorded, a second",
    from: "delivery",
    own: [deliveries("(b) svc")],
    others: {
      "graphile-worker": deliveries("(c) graphile-worker"),
      "pg-boss": deliveries("(d) pg-boss"),
      "relay without a store": deliveries("(a) bare relay"),
    },
    figures: { "/ graphile-worker": /^b\/c$/, "/ pg-boss": /^b\/d$/, "/ relay": /^b\/a$/ },
  },
  {
    what: "post stored, a second",
    from: "ingest",
    own: [posts("svc")],
    others: {
      "`node:http` with one INSERT": posts("node:http, HMAC, one INSERT"),
      "`node:http` without a store": posts("node:http, HMAC, no store"),
    },
    figures: { "/ one INSERT": /one INSERT$/, "/ without a store": /no store$/ },
  },
  {
    what: "single-step job, of one write, a second",
    from: "jobs",
    own: [perSecond("single-step jobs, svc")],
    others: {
      DBOS: perSecond("single-step jobs, DBOS"),
      Restate: perSecond("single-step jobs, Restate"),
      "graphile-worker": perSecond("single-step jobs, graphile-worker"),
      "pg-boss": perSecond("single-step jobs, pg-boss"),
    },
    figures: {
      "/ DBOS": /^single-step jobs: svc \/ DBOS$/,
      "/ Restate": /^single-step jobs: svc \/ Restate$/,
      "/ graphile-worker": /^single-step jobs: svc \/ graphile-worker$/,
    },
  },
  {
    what: "1,000 steps of one workflow, 32 at once, a second",
    from: "jobs",
    own: [perSecond(`${togetherRow}, svc`)],
    others: { DBOS: perSecond(`${togetherRow}, DBOS`), Restate: perSecond(`${togetherRow}, Restate`) },
    figures: { "/ Restate": /^1,000 steps.*svc \/ Restate$/ },
  },
  {
    what: "row of a map, a second: read; write",
    from: "jobs",
    own: [perSecond("map of reads"), perSecond("map of writes")],
    others: {
      "bare undici loop, reads": perSecond("bare loop of reads"),
      "of writes": perSecond("bare loop of writes"),
    },
    figures: { reads: /^map of reads, rows a second$/, writes: /^map of writes, rows a second$/ },
  },
  {
    what: "time of a row of a map, of more rows over of 1,000",
    from: "jobs",
    figures: { "worst of 10,000 and 100,000": /^time per row/ },
  },
  {
    what: "tool call, a second: read; write",
    from: "call",
    own: [
      { row: "read", column: "CallTool/s" },
      { row: "write", column: "CallTool/s" },
    ],
    others: {
      "bare undici loop, reads": { row: "read", column: "bare undici/s" },
      "of writes": { row: "write", column: "bare undici/s" },
    },
    figures: { read: /^read: CallTool/, write: /^write: CallTool/ },
  },
  {
    what: "catalog read (GetTool), a second",
    from: "rpc",
    own: [calls("CatalogService/GetTool")],
    others: { "no-op of the same stack": calls("grpc.health.v1.Health/Check") },
    figures: { "/ no-op": /no-op$/ },
  },
  {
    what: "the same work, now over before 0.2",
    from: "beside",
    figures: {
      "CallTool read": /^CallTool, a read/,
      "CallTool write": /^CallTool, a write/,
      "no-op": /^no-op/,
      "row of a map, read": /^rows of a map of reads/,
      "row of a map, write": /^rows of a map of writes/,
    },
  },
  {
    what: "post to receipt at 1,000/s, p99",
    from: "latency",
    figures: {
      alone: /^p(ost to receipt, p99|99 from post to receipt)$/,
      "beside 64 jobs": /^post to receipt, beside/,
    },
  },
  {
    what: "answer at 1,000/s beside 64 jobs, p99",
    from: "latency",
    figures: { post: /^post to 202, beside/, CallTool: /^CallTool/ },
  },
  {
    what: "one job: submitted to result, p50",
    from: "job-latency",
    own: [median([wholeRow, "svc"])],
    others: {
      DBOS: median([wholeRow, "DBOS"]),
      Restate: median([wholeRow, "Restate"]),
      workflow: median([wholeRow, "workflow"]),
    },
    figures: {
      "/ DBOS": /^one job: submitted to result, p50: svc \/ DBOS/,
      "first request / best": /^one job: submitted to first request.*best of the others$/,
    },
  },
  {
    what: "gap between steps of a job, p50",
    from: "job-latency",
    own: [median([gapRow, "svc"])],
    others: {
      DBOS: median([gapRow, "DBOS"]),
      Restate: median([gapRow, "Restate"]),
      workflow: median([gapRow, "workflow"]),
    },
    figures: { gap: /^gap between steps/, "/ best": /^100 steps: one request to the next/ },
  },
  { what: "answer of a person to resumed step, p99", from: "jobs", figures: { wait: /^answer to resumed step/ } },
  {
    what: "deliveries beside 100,000 pending ones, a second",
    from: "backlog",
    own: [{ row: "100,000 pending deliveries", column: "fresh deliveries/s" }],
    others: { "without them": { row: "no backlog", column: "fresh deliveries/s" } },
    figures: { "/ without": /^with \/ without$/ },
  },
  {
    what: "deliveries while a snapshot is held, a second before",
    from: "snapshot",
    own: [before("deliveries, svc")],
    others: {
      "graphile-worker": before("deliveries, graphile-worker"),
      "its last / before": { row: "deliveries, graphile-worker", column: "/ before" },
      "pg-boss": before("deliveries, pg-boss"),
      "its last windows / before": { row: "deliveries, pg-boss", column: "/ before" },
    },
    figures: {
      "held / the same windows without": /^deliveries, svc: held \/ the same windows/,
      "held / before": /^deliveries, svc: held \/ before/,
      "last / before": /^deliveries, svc: held, the last/,
      "dead rows": /^deliveries, svc: dead rows/,
    },
  },
  {
    what: "single-step jobs while a snapshot is held, a second before",
    from: "snapshot",
    own: [before("single-step jobs, svc")],
    figures: {
      "held / the same windows without": /^single-step jobs, svc: held \/ the same windows/,
      "held / before": /^single-step jobs, svc: held \/ before/,
      "last / before": /^single-step jobs, svc: held, the last/,
      "dead rows": /^single-step jobs, svc: dead rows/,
    },
  },
  {
    what: "the largest store over one of 1 thousand events",
    from: "growth",
    figures: {
      "CPU a post at 300/s": /^CPU a post at/,
      "CPU a post, flood": /^CPU a post, as fast/,
      "log a post": /^WAL a post/,
      "worst read, p50": /, p50: /,
      "lists by toolkit, p99": /toolkit.*, p99, /,
      "a sweep adds to p99": /sweep/,
    },
  },
  {
    what: "a minute of an idle node, 10,000 lanes waiting",
    from: "nodes",
    figures: { statements: /statements$/, "CPU of PostgreSQL": /CPU of PostgreSQL$/ },
  },
  {
    what: "memory of an idle node",
    from: "catalog",
    others: { "with 10,000 definitions, MB": { row: "10,017", column: "idle, MB" } },
    figures: { "610 definitions": /^idle memory/ },
  },
];
