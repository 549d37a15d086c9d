import { displayText } from "@svc/core";
import { AdminService, GetQuarantinedPostResponseSchema } from "@svc/gen/admin";
import type { QuarantinedPost } from "@svc/sdk";
import type { AdminOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { factLines, timeText } from "../../text/table.ts";

/** Adds `svc quarantine show`. */
export const addQuarantineShow = command(
  AdminService.method.getQuarantinedPost,
  {
    says: "show one post with its headers and body; credentials and signatures are removed",
    takes: { "<id>": "id of the post, qrn_…" },
    json: "the server's answer as JSON, the body in base64",
    examples: [
      "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q",
      "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q --json | jq -r .body | base64 -d",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<AdminOptions & JsonOption & { readonly id: string }>) => {
    const { id } = options;
    const found = await admin().admin.getQuarantinedPost({ id });
    if (asJson) return context.print(messageText(GetQuarantinedPostResponseSchema, found));
    const { post, body } = found;
    if (post === undefined) return;
    for (const line of factLines(factsOf(post))) context.print(line);
    printPart("Headers", pairsOf(post.headers), context);
    printPart("Query", pairsOf(post.query), context);
    const { text, isLossy } = displayText(body, { contentType: post.headers["content-type"] });
    const title = isLossy
      ? "Body (not all of it is text: some bytes are shown as \ufffd; --json has them all)"
      : "Body";
    printPart(title, text === "" ? [] : text.split("\n").map(plainText), context);
  },
);

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

function printPart(title: string, lines: readonly string[], context: CommandContext): void {
  if (lines.length === 0) return;
  context.print(`\n${title}:`);
  for (const line of lines) context.print(line);
}
