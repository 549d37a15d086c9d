import { GrantsService } from "@svc/gen/grants";
import { call, list, topic } from "../command/topic.ts";
import { confirmText } from "../text/bound.ts";
import { plainText } from "../text/plain.ts";

const { listGrants, updateGrant, revokeGrant } = GrantsService.method;
const exampleId = "grt_01h455vb4pex5vsknk084sn02q";

/** The commands `svc grants list|update|revoke`, for grants (people's permissions for agents). */
export const addGrantsCommand = topic({
  says: "list, narrow and revoke the grants that people gave to agents",
  examples: ["svc grants", `svc grants revoke ${exampleId}`],
  commands: {
    list: list(listGrants, {
      says: "list the grants that people gave to agents, newest first",
      isDefault: true,
      options: [["--all", "also grants that have ended"]],
      rows: "grants",
      keeps: ({ active }, { all }) => active || all === true,
      table: {
        ID: "id",
        GIVEN: "createdAt",
        USED: "usedAt",
        ENTITY: ({ entityId }) => (entityId === "" ? "any" : plainText(entityId)),
        MAY: ({ active, accessClasses, agentTools }) =>
          active ? [...accessClasses, ...agentTools].join(",") : "ended",
        TOOLKITS: ({ toolkitSlugs }) => toolkitSlugs.join(",") || "all",
        CONFIRMED: ({ confirm }) => confirmText(confirm),
        AGENT: ({ clientName, clientOrigin }) => [clientName, clientOrigin].filter(Boolean).map(plainText).join(" at "),
      },
      json: "the grants as a JSON list",
      examples: ["svc grants list", "svc grants list --all"],
    }),
    update: call(updateGrant, {
      says: "narrow a grant; its tokens stay valid",
      alias: "narrow",
      takes: { "<id>": "id of the grant" },
      options: [
        [
          "--access <classes>",
          "classes that the grant keeps, separated by commas: read, write, destructive",
          { fills: "accessClasses", default: [] },
        ],
        [
          "--toolkits <slugs>",
          "toolkits that the grant keeps, separated by commas",
          { fills: "toolkitSlugs", default: [] },
        ],
        [
          "--agent-tools <groups>",
          "other abilities that the grant keeps, separated by commas: programs, connect, operate, repair; or none",
          { default: [] },
        ],
      ],
      hasConfirm: true,
      result: "grant",
      json: "the grant as JSON",
      shows: ({ grant }, { values: { id } }) => {
        const toolkits = grant?.toolkitSlugs.join(", ") || "all toolkits";
        const confirmed = confirmText(grant?.confirm);
        const others = grant?.agentTools.length === 0 ? "" : `, and ${grant?.agentTools.join(", ")}`;
        const may = `${plainText(String(id))} may ${grant?.accessClasses.join(", ")} with ${toolkits}${others}`;
        return confirmed === "" ? may : `${may}; confirmed: ${confirmed}`;
      },
      examples: [
        `svc grants update ${exampleId} --access read`,
        `svc grants update ${exampleId} --toolkits calendar,sales_crm`,
        `svc grants update ${exampleId} --confirm destructive --confirm-by lead`,
      ],
    }),
    revoke: call(revokeGrant, {
      says: "end a grant and all its tokens",
      takes: { "<id>": "id of the grant" },
      result: "grant",
      json: "the grant as JSON",
      shows: "{id} has ended",
      examples: [`svc grants revoke ${exampleId}`],
    }),
  },
});
