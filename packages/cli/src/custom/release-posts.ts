import { AdminService, QuarantineReleaseSchema } from "@svc/gen/admin";
import type { QuarantineRelease } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { messageListText } from "../text/message.ts";
import { countText, tableLines } from "../text/table.ts";

type ReleaseValues = {
  readonly id: readonly string[];
  readonly toolkit?: string;
  readonly since?: number;
  readonly until?: number;
  readonly dryRun?: true;
};

/** Posts that are settled between two lines of progress. */
const pagePosts = 100;

/** `svc quarantine release`. */
export const addQuarantineRelease = command(
  AdminService.method.releaseQuarantinedPosts,
  {
    says: "run posts through the definitions and projects of now, and print what became of each",
    takes: { "[id...]": "ids of posts, qrn_…; without one, every post that the options mean" },
    options: [
      ["--toolkit <slug>", "only posts to this toolkit's path", { fills: "toolkitSlug" }],
      ["--since <when>", "only posts received then or later: 2h ago, or 2026-03-14T09:00:00Z"],
      ["--until <when>", "only posts received before"],
      ["--dry-run", "tell what would become of them, and release nothing"],
    ],
    json: "what became of each post as a JSON list",
    more: "\nA post that fails again stays in quarantine with its new reason. Ends with 1 when an id is that of no post.",
    examples: [
      "svc quarantine release qrn_01h455vb4pex5vsknk084sn02q",
      "svc quarantine release --toolkit calendar --since 1d --dry-run",
    ],
  },
  async ({ values, context, admin, asJson }: Run<ReleaseValues>, request) => {
    const { id: ids, toolkit = "", since, until, dryRun } = values;
    if (ids.length === 0 && toolkit === "" && since === undefined && until === undefined) {
      throw new CommandError("nothing says which posts: give their ids, --toolkit, --since or --until", 2);
    }
    const released: QuarantineRelease[] = [];
    // Page after page, with a line on each: a release may take minutes.
    let pageToken = "";
    do {
      const page = { ...request, ids: [...ids], pageSize: pagePosts, pageToken };
      const { results, nextPageToken } = await admin().admin.releaseQuarantinedPosts(page);
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
      throw new CommandError(`${countText(missing, "id")} of no post; \`svc quarantine\` lists those there are`);
  },
);

function summaryOf(released: readonly QuarantineRelease[], isDryRun: boolean): string {
  const counts = Map.groupBy(released, ({ outcome }) => outcome);
  const parts = [...counts].map(([outcome, posts]) => `${posts.length} ${outcome.replaceAll("_", " ")}`);
  const text = parts.length === 0 ? "No post fits." : `${countText(released.length, "post")}: ${parts.join(", ")}.`;
  return isDryRun ? `Dry run, nothing is released. ${text}` : text;
}
