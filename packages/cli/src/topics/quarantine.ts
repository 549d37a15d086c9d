import { displayText } from "@svc/core";
import { AdminService } from "@svc/gen/admin";
import type { QuarantinedPost } from "@svc/sdk";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addQuarantineRelease } from "../custom/release-posts.ts";
import { plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

/** `svc quarantine show`. */
const addQuarantineShow = call(AdminService.method.getQuarantinedPost, {
  says: "show one post with its headers and body; credentials and signatures are removed",
  takes: { "<id>": "id of the post, qrn_…" },
  json: "the server's answer as JSON, the body in base64",
  shows: ({ post, body }) => {
    if (post === undefined) return [];
    const { text, isLossy } = displayText(body, { contentType: post.headers["content-type"] });
    const title = isLossy
      ? "Body (not all of it is text: some bytes are shown as \ufffd; --json has them all)"
      : "Body";
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
  ];
}

function pairsOf(pairs: Readonly<Record<string, string>>): string[] {
  return Object.entries(pairs).map(([name, value]) => plainText(`${name}: ${value}`));
}

function partLines(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`\n${title}:`, ...lines];
}

/** `svc quarantine list|show|release`. */
export const addQuarantineCommand = topic({
  says: "list, show and release verified posts that became no event, as the administrator",
  examples: ["svc quarantine", "svc quarantine release --toolkit calendar --dry-run"],
  commands: {
    list: list(AdminService.method.listQuarantinedPosts, {
      says: "list the posts in quarantine with what was wrong, newest first",
      isDefault: true,
      options: [
        ["--toolkit <slug>", "only posts to this toolkit's path", { fills: "toolkitSlug" }],
        [
          "--reason <reason>",
          "only posts that are here for this reason",
          { choices: ["no_trigger", "invalid_payload", "no_project"] },
        ],
        ["--include-released", "those that were released, too"],
        ["--limit <count>", "most posts to list", { parse: parseCount, default: 100 }],
      ],
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
      examples: ["svc quarantine list", "svc quarantine list --toolkit calendar --reason no_project"],
    }),
    show: addQuarantineShow,
    release: addQuarantineRelease,
  },
});
