import { displayText } from "@svc/core";
import { AdminService, QuarantineReleaseSchema } from "@svc/gen/admin";
import type { QuarantinedPost, QuarantineRelease } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { countText, factLines, tableLines, timeText } from "../text/table.ts";

type ReleaseValues = {
  readonly id: readonly string[];
  readonly toolkit?: string;
  readonly since?: number;
  readonly until?: number;
  readonly dryRun?: true;
  readonly private?: true;
};

/**
 * Number of quarantined webhook posts (which svc could not turn into events) that the command handles before it prints the next line of
 * progress.
 */
const pagePosts = 100;

/**
 * Option of the quarantine commands with its help text: it selects the webhook posts to the project's private toolkits (apps that it
 * defined itself).
 */
const privately = ["--private", "posts to the project's private toolkits, with the key of an approver"] as const;

/**
 * The command `svc quarantine release`, which processes quarantined webhook posts (refused posts kept for inspection) again with the
 * present definitions.
 */
const addQuarantineRelease = command(
  AdminService.method.releaseQuarantinedPosts,
  {
    says: "read posts with the present definitions and projects, and print the result for each",
    takes: { "[id...]": "ids of posts, qrn_…; without ids, every post that matches the options" },
    options: [
      ["--toolkit <slug>", "only posts to this toolkit's path", { fills: "toolkitSlug" }],
      ["--since <when>", "only posts received at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
      ["--until <when>", "only posts received before this time"],
      ["--dry-run", "show the results without releasing anything"],
      privately,
    ],
    client: "either",
    json: "the result for each post as a JSON list",
    more: "\nA post that fails again stays in quarantine with its new reason. The exit code is 1 if an id does not exist.",
    examples: [
      "svc quarantine release qrn_01h455vb4pex5vsknk084sn02q",
      "svc quarantine release --toolkit calendar --since 1d --dry-run",
      "svc quarantine release --private --toolkit help_desk",
    ],
  },
  async (run: Run<ReleaseValues>, request) => {
    const { values, context, asJson } = run;
    const { id: ids, toolkit = "", since, until, dryRun } = values;
    if (ids.length === 0 && toolkit === "" && since === undefined && until === undefined) {
      throw new CommandError("no posts are selected: give their ids, --toolkit, --since or --until", 2);
    }
    const client = values.private === true ? await run.project() : undefined;
    const released: QuarantineRelease[] = [];
    // A release may take minutes, so the command handles one page after the other and prints a line for each.
    let pageToken = "";
    do {
      const page = { ...request, ids: [...ids], pageSize: pagePosts, pageToken };
      const { results, nextPageToken } = await (client === undefined
        ? run.admin().admin.releaseQuarantinedPosts(page)
        : client.triggers.releaseQuarantinedPosts(page));
      released.push(...results);
      pageToken = nextPageToken;
      if (pageToken !== "") context.note(`${countText(released.length, "post")} so far`);
    } while (pageToken !== "");
    if (asJson) context.print(messageListText(QuarantineReleaseSchema, released));
    else {
      const rows = released.map(({ id, outcome, accepted, reason }) => [id, outcome, String(accepted), reason || "-"]);
      for (const line of tableLines(["ID", "OUTCOME", "EVENTS", "REASON"], rows)) context.print(line);
    }
    context.note(summaryOf(released, dryRun === true));
    const missing = released.filter(({ outcome }) => outcome === "missing").length;
    if (missing > 0)
      throw new CommandError(`${countText(missing, "id")} without a post; \`svc quarantine\` lists the posts`);
  },
);

function summaryOf(released: readonly QuarantineRelease[], isDryRun: boolean): string {
  const counts = Map.groupBy(released, ({ outcome }) => outcome);
  const parts = [...counts].map(([outcome, posts]) => `${posts.length} ${outcome.replaceAll("_", " ")}`);
  const text = parts.length === 0 ? "No post matches." : `${countText(released.length, "post")}: ${parts.join(", ")}.`;
  return isDryRun ? `Dry run, nothing was released. ${text}` : text;
}

/** The command `svc quarantine show`, which prints one quarantined webhook post (a refused post kept for inspection). */
const addQuarantineShow = call(AdminService.method.getQuarantinedPost, {
  says: "show one post with its headers and body; credentials and signatures are removed",
  takes: { "<id>": "id of the post, qrn_…" },
  options: [privately],
  client: "either",
  json: "the server's answer as JSON, the body in base64",
  shows: ({ post, body }) => {
    if (post === undefined) return [];
    const { text, isLossy } = displayText(body, { contentType: post.headers["content-type"] });
    const title = isLossy ? "Body (some bytes are not text and are shown as \ufffd; --json has them all)" : "Body";
    return [
      ...factLines(factsOf(post)),
      ...partLines("Headers", pairsOf(post.headers)),
      ...partLines("Query", pairsOf(post.query)),
      ...partLines(title, text === "" ? [] : text.split("\n").map(plainText)),
    ];
  },
  examples: [
    "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q",
    "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q --json | jq -r .body | base64 -d",
  ],
});

function factsOf(post: QuarantinedPost): [name: string, value: string][] {
  return [
    ["post", post.id],
    ["toolkit", post.toolkitSlug],
    ["reason", post.reason],
    ["detail", plainText(post.detail)],
    ["received", timeText(post.receivedAt)],
    ["released", post.releasedAt === undefined ? "" : timeText(post.releasedAt)],
    ["body", `${post.bodyBytes} bytes`],
    ["items", post.items.join(", ")],
  ];
}

function pairsOf(pairs: Readonly<Record<string, string>>): string[] {
  return Object.entries(pairs).map(([name, value]) => plainText(`${name}: ${value}`));
}

function partLines(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`\n${title}:`, ...lines];
}

/** The commands `svc quarantine list|show|release`, for webhook posts that svc could not turn into events and keeps. */
export const addQuarantineCommand = topic({
  says: "list, show and release verified posts that could not become events, as the administrator or for a project",
  examples: ["svc quarantine", "svc quarantine --private", "svc quarantine release --toolkit calendar --dry-run"],
  commands: {
    list: list(AdminService.method.listQuarantinedPosts, {
      says: "list the posts in quarantine with their problems, newest first",
      isDefault: true,
      options: [
        ["--toolkit <slug>", "only posts to this toolkit's path", { fills: "toolkitSlug" }],
        [
          "--reason <reason>",
          "only posts with this reason",
          { choices: ["no_trigger", "invalid_payload", "no_project", "unreadable_body"] },
        ],
        ["--include-released", "also released posts"],
        ["--limit <count>", "largest number of posts to list", { parse: parseCount, default: 100 }],
        privately,
      ],
      client: "either",
      rows: "posts",
      table: {
        RECEIVED: "receivedAt",
        ID: "id",
        TOOLKIT: ({ toolkitSlug }) => toolkitSlug,
        REASON: ({ reason }) => reason,
        RELEASED: "releasedAt",
        DETAIL: "detail",
      },
      json: "the posts, without their bodies, as a JSON list",
      examples: [
        "svc quarantine list",
        "svc quarantine list --toolkit calendar --reason no_project",
        "svc quarantine list --private",
      ],
    }),
    show: addQuarantineShow,
    release: addQuarantineRelease,
  },
});
