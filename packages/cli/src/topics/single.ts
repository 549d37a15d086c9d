import { IdentityService } from "@svc/gen/identity";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { type AddressedServer, originOf, ownProjectId, serverUrl } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { countUpTo } from "../command/options.ts";
import { call, list } from "../command/topic.ts";
import { boundText, confirmText, roleText } from "../text/bound.ts";
import { firstSentence, tableLines, wrappedTableLines } from "../text/table.ts";

type EndpointOptions = AddressedServer & { readonly private?: true };

/** The command `svc endpoints`, which lists the paths to which apps post webhooks, and whether the deployment has a secret for each. */
export const addEndpointsCommand = list(TriggersService.method.listIngestEndpoints, {
  says: "list the paths that providers post events to, and whether the deployment has a secret for each",
  options: [["--private", "also the paths of the project's private toolkits"]],
  request: async ({ values, project }: Run<EndpointOptions>) =>
    values.private === true ? { projectId: await ownProjectId(await project()) } : {},
  rows: "endpoints",
  table: (endpoints, { values, context }: Run<EndpointOptions>) => {
    const base = serverUrl(values, context);
    const rows = endpoints.map(({ toolkitSlug, path, scheme, secretEnv, secretSet, projectId }) => {
      const secret = projectId === "" ? secretEnv : "in the vault";
      return [toolkitSlug, scheme, secret, secretSet ? "yes" : "no", `${base}${path}`];
    });
    return tableLines(["TOOLKIT", "SCHEME", "SECRET", "SET", "URL"], rows);
  },
  remark: (endpoints, { asJson, context }) => {
    if (asJson) return;
    const shared = endpoints.filter(({ secretSet, projectId }) => !secretSet && projectId === "");
    // With private toolkits, the user looks for one of them, so a remark about other toolkits would mislead.
    if (shared.length > 0 && endpoints.every(({ projectId }) => projectId === ""))
      context.note(
        "Posts to a path without a secret are refused: start svc with the variable in the column SECRET, set to the secret of the app.",
      );
    for (const { toolkitSlug, secretSet, projectId } of endpoints)
      if (!secretSet && projectId !== "")
        context.note(
          `${toolkitSlug} has no secret, so its posts are refused: \`svc webhooks secrets put ${toolkitSlug}\`.`,
        );
    for (const { path, secretSet, fault } of endpoints)
      if (secretSet && fault !== "") context.note(`Posts to ${path} are refused: ${fault}.`);
  },
  json: "the inbound paths as a JSON list",
  examples: ["svc endpoints", "svc endpoints --private", "svc endpoints --json | jq '.[] | select(.secretSet | not)'"],
});

/** The command `svc whoami`, which shows the project and role of the key in use, and the service that answered. */
export const addWhoamiCommand = call(IdentityService.method.getIdentity, {
  says: "show the project and role of the key in use, the source of the key, and the service that answered",
  shows: (found, { context }) => {
    const origin = originOf(context);
    const bound = boundText(found);
    const confirmed = confirmText(found.confirm);
    return [
      `project  ${found.projectName} (${found.projectId})`,
      `role     ${roleText(found.role)}`,
      `key      ${found.keyId}${origin === undefined ? "" : `; ${origin.credential}`}`,
      ...(bound === "" ? [] : [`limited to ${bound}`]),
      ...(confirmed === "" ? [] : [`confirm  ${confirmed}`]),
      `service  ${origin?.url ?? ""}`,
    ];
  },
  examples: ["svc whoami", "svc whoami --json"],
});

/** The command `svc search`, which finds tools by a description of the task in plain words. */
export const addSearchCommand = call(ToolsService.method.searchTools, {
  says: "find tools by what you want to do, in plain words, best first",
  takes: { "<words...>": "what you want to do, such as: move a meeting to tomorrow" },
  options: [
    ["--toolkit <slug>", "only tools of this toolkit", { fills: "toolkitSlug" }],
    [
      "--class <class>",
      "only tools of this class",
      { fills: "accessClass", choices: ["read", "write", "destructive"] },
    ],
    ["--limit <count>", "largest number of tools to list, at most 50", { parse: countUpTo(50), default: 8 }],
  ],
  request: ({ values: { words } }) => ({ query: [words].flat().join(" ") }),
  shows: ({ results }) => {
    const rows = results.flatMap(({ tool, confidence: fit }) =>
      tool === undefined ? [] : [[tool.slug, tool.accessClass, fit, firstSentence(tool.description)]],
    );
    return rows.length === 0 ? [] : wrappedTableLines(["TOOL", "CLASS", "CONFIDENCE", "DESCRIPTION"], rows);
  },
  notes: ({ results, confidence }, { asJson }) => {
    if (asJson) return [];
    const found = results.find(({ tool }) => tool !== undefined);
    if (found === undefined) return "No tool matches. Use other words, or fewer filters.";
    const doubt = "Hardly a word matches these tools. Use other words, or name the toolkit.";
    return [
      ...(confidence === "low" ? [doubt] : []),
      `\`svc toolkits show ${found.tool?.slug}\` shows the arguments of a tool.`,
    ];
  },
  examples: [
    'svc search "what is on my calendar tomorrow"',
    'svc search "cancel a subscription" --class destructive --limit 3',
  ],
});
