import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AdminService, QuarantineReleaseSchema } from "@svc/gen/admin";
import type { QuarantineRelease, SvcAdminClient } from "@svc/sdk";
import type { AdminOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { type JsonOption, parseMoment } from "../../command/options.ts";
import { messageListText } from "../../text/message.ts";
import { countText, tableLines } from "../../text/table.ts";

type ReleaseOptions = AdminOptions & JsonOption & { toolkit?: string; since?: number; until?: number; dryRun?: true };

/** Posts that are settled between two lines of progress. */
const pagePosts = 100;

/** Adds `svc quarantine release`. */
export const addQuarantineRelease = command(
  AdminService.method.releaseQuarantinedPosts,
  {
    says: "run posts through the definitions and projects of now, and print what became of each",
    takes: { "[id...]": "ids of posts, qrn_…; without one, every post that the options mean" },
    options: [
      ["--toolkit <slug>", "only posts to this toolkit's path"],
      ["--since <when>", "only posts received then or later: 2h ago, or 2026-03-14T09:00:00Z", { parse: parseMoment }],
      ["--until <when>", "only posts received before", { parse: parseMoment }],
      ["--dry-run", "tell what would become of them, and release nothing"],
    ],
    json: "what became of each post as a JSON list",
    more: "\nA post that fails again stays in quarantine with its new reason. Ends with 1 when an id is that of no post.",
    examples: [
      "svc quarantine release qrn_01h455vb4pex5vsknk084sn02q",
      "svc quarantine release --toolkit calendar --since 1d --dry-run",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<ReleaseOptions & { readonly id: string[] }>) => {
    const { id: ids } = options;
    const { toolkit = "", since, until } = options;
    if (ids.length === 0 && toolkit === "" && since === undefined && until === undefined) {
      throw new CommandError("nothing says which posts: give their ids, --toolkit, --since or --until", 2);
    }
    const released = await releaseAll(admin(), ids, options, context);
    if (asJson) context.print(messageListText(QuarantineReleaseSchema, released));
    else {
      const rows = released.map(({ id, outcome, accepted, reason }) => [id, outcome, String(accepted), reason || "-"]);
      for (const line of tableLines(["ID", "OUTCOME", "EVENTS", "REASON"], rows)) context.print(line);
    }
    context.note(summaryOf(released, options));
    const missing = released.filter(({ outcome }) => outcome === "missing").length;
    if (missing > 0)
      throw new CommandError(`${countText(missing, "id")} of no post; \`svc quarantine\` lists those there are`);
  },
);

/** Page after page, with a line on each: a release may take minutes. */
async function releaseAll(
  { admin }: SvcAdminClient,
  ids: readonly string[],
  { toolkit: toolkitSlug = "", since, until, dryRun }: ReleaseOptions,
  context: CommandContext,
): Promise<QuarantineRelease[]> {
  const range = {
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  const request = { ids: [...ids], toolkitSlug, ...range, dryRun: dryRun ?? false, pageSize: pagePosts };
  const done: QuarantineRelease[] = [];
  let pageToken = "";
  do {
    const page = await admin.releaseQuarantinedPosts({ ...request, pageToken });
    done.push(...page.results);
    pageToken = page.nextPageToken;
    if (pageToken !== "") context.note(`${countText(done.length, "post")} so far`);
  } while (pageToken !== "");
  return done;
}

function summaryOf(released: readonly QuarantineRelease[], { dryRun }: ReleaseOptions): string {
  const counts = Map.groupBy(released, ({ outcome }) => outcome);
  const parts = [...counts].map(([outcome, posts]) => `${posts.length} ${outcome.replaceAll("_", " ")}`);
  const text = parts.length === 0 ? "No post fits." : `${countText(released.length, "post")}: ${parts.join(", ")}.`;
  return dryRun ? `Dry run, nothing is released. ${text}` : text;
}
