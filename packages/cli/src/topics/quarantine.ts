import { AdminService } from "@svc/gen/admin";
import { parseCount } from "../command/options.ts";
import { list, topic } from "../command/topic.ts";
import { addQuarantineRelease } from "../custom/quarantine/release.ts";
import { addQuarantineShow } from "../custom/quarantine/show.ts";

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
