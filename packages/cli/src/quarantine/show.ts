import { displayText } from "@svc/core";
import { GetQuarantinedPostResponseSchema } from "@svc/gen/admin";
import type { QuarantinedPost } from "@svc/sdk";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

/** Adds `svc quarantine show`. */
export function addQuarantineShow(quarantine: Command, context: CommandContext): void {
  const show = quarantine
    .command("show")
    .description("show one post with its headers and body; credentials and signatures are removed")
    .argument("<id>", "id of the post, qrn_…")
    .action((id: string, options: AdminOptions & JsonOption) => showPost(id, options, context));
  addExamples(addAdminOptions(addJson(show, "the server's answer as JSON, the body in base64")), [
    "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q",
    "svc quarantine show qrn_01h455vb4pex5vsknk084sn02q --json | jq -r .body | base64 -d",
  ]);
}

async function showPost(id: string, options: AdminOptions & JsonOption, context: CommandContext): Promise<void> {
  const found = await openAdminClient(options, context).admin.getQuarantinedPost({ id });
  if (options.json) return context.print(messageText(GetQuarantinedPostResponseSchema, found));
  const { post, body } = found;
  if (post === undefined) return;
  for (const line of factLines(factsOf(post))) context.print(line);
  printPart("Headers", pairsOf(post.headers), context);
  printPart("Query", pairsOf(post.query), context);
  const { text, isLossy } = displayText(body, { contentType: post.headers["content-type"] });
  const title = isLossy ? "Body (not all of it is text: some bytes are shown as \ufffd; --json has them all)" : "Body";
  printPart(title, text === "" ? [] : text.split("\n").map(plainText), context);
}

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
