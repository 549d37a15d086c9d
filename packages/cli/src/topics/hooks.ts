import { ToolsService } from "@svc/gen/tools";
import { InvalidArgumentError } from "commander";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";
import { factLines } from "../text/table.ts";

const { listHooks, createHook, updateHook, deleteHook } = ToolsService.method;
const exampleId = "hok_01h455vb4pex5vsknk084sn02q";

/** The commands `svc hooks list|create|update|delete`, for hooks (endpoints that check tool calls). */
export const addHooksCommand = topic({
  says: "list, create, update and delete hooks, which svc asks about tool calls",
  examples: ["svc hooks", "svc hooks create before https://hooks.example.com/calls --access write,destructive"],
  commands: {
    list: list(listHooks, {
      says: "list the project's hooks in the order in which svc asks them",
      isDefault: true,
      rows: "hooks",
      table: {
        ID: "id",
        ASKED: "phase",
        STATE: ({ active }) => (active ? "active" : "paused"),
        TOOLKITS: ({ toolkitSlugs }) => toolkitSlugs.join(",") || "all",
        CLASSES: ({ accessClasses }) => accessClasses.join(",") || "all",
        CREATED: "createdAt",
        ENDPOINT: "endpointUrl",
      },
      json: "the hooks as a JSON list",
      examples: ["svc hooks list"],
    }),
    create: call(createHook, {
      says: "make svc ask an address about calls, and print the hook's id and its signing secret",
      takes: {
        "<phase>": ["before a call is sent, or after it with its result", { choices: ["before", "after"] }],
        "<url>": ["address of the hook; must be https unless its host is loopback", { fills: "endpointUrl" }],
      },
      options: [
        [
          "--toolkits <slugs>",
          "toolkits whose calls the hook is asked about, such as calendar,sales_crm",
          { fills: "toolkitSlugs", default: [] },
        ],
        [
          "--access <classes>",
          "classes that the hook is asked about, such as write,destructive",
          { fills: "accessClasses", named: "accessClass", default: [] },
        ],
        [
          "--position <number>",
          "position among the hooks of its phase, lowest first",
          { parse: parsePosition, default: 0 },
        ],
      ],
      json: "the hook and its secret as JSON",
      shows: ({ hook, signingSecret }) =>
        factLines([
          ["hook", hook?.id ?? ""],
          ["signing secret", signingSecret],
        ]),
      notes: () => "Keep the secret: it is not shown again.",
      examples: [
        "svc hooks create before https://hooks.example.com/calls",
        "svc hooks create after https://hooks.example.com/redact --toolkits sales_crm --access read",
      ],
    }),
    update: call(updateHook, {
      says: "change a hook's address or position, or switch it on or off; its secret stays",
      takes: { "<id>": "id of the hook, hok_…" },
      options: [
        ["--endpoint <url>", "new address of the hook", { fills: "endpointUrl" }],
        ["--position <number>", "position among the hooks of its phase, lowest first", { parse: parsePosition }],
        ["--pause", "switch the hook off; calls continue without it"],
        ["--resume", "switch the hook on again"],
      ],
      request: ({ values: { pause, resume } }) => (pause === resume ? {} : { active: resume === true }),
      result: "hook",
      json: "the hook as JSON",
      shows: ({ hook }) => {
        const state = hook?.active ? "is asked" : "is not asked";
        return `${hook?.id} ${state} ${hook?.phase} calls at ${plainText(hook?.endpointUrl ?? "")}`;
      },
      examples: [
        `svc hooks update ${exampleId} --pause`,
        `svc hooks update ${exampleId} --endpoint https://hooks.example.com/calls --position 2`,
      ],
    }),
    delete: call(deleteHook, {
      says: "delete a hook; calls continue without it",
      takes: { "<id>": "id of the hook, hok_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} is deleted",
      examples: [`svc hooks delete ${exampleId}`],
    }),
  },
});

/**
 * Returns a position among hooks (endpoints that check tool calls) as a number, which may be negative. Throws InvalidArgumentError for any
 * other text.
 */
function parsePosition(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}
