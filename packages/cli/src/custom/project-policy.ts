import { create } from "@bufbuild/protobuf";
import { quotaNames, unlimited } from "@svc/core";
import { AdminService, ProjectQuotasSchema, ProjectSchema } from "@svc/gen/admin";
import { InvalidArgumentError } from "commander";
import { findProject } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { collectText } from "../command/options.ts";
import { call } from "../command/topic.ts";
import { confirmText } from "../text/bound.ts";
import { messageText } from "../text/message.ts";

type QuotaValue = readonly [name: (typeof quotaNames)[number], value: number];
type QuotasOptions = { readonly set: readonly QuotaValue[]; readonly project: string };

/** The command `svc projects quotas`, which sets how much of the service a project may use. */
export const addProjectQuotas = command(
  AdminService.method.setProjectPolicy,
  {
    says: "set how much of the service a project may use; other quotas are unchanged",
    takes: { "<project>": "id or name of the project" },
    options: [
      [
        "--set <quota=number>",
        `a quota and its limit, can be repeated: ${quotaNames.join(", ")}; a whole number, \`default\`, or \`unlimited\` (-1)`,
        { required: true, parse: collectQuota, default: [] },
      ],
    ],
    json: "the project with its policy as JSON",
    examples: [
      "svc projects quotas billing --set calls=100 --set jobs=500",
      "svc projects quotas billing --set calls=default --set storedBytes=unlimited",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<QuotasOptions>) => {
    const { project: name } = options;
    const client = admin();
    const { id: projectId, policy } = await findProject(client, name);
    const { planApproval = "", redirectUrls = [] } = policy ?? {};
    const quotas = create(ProjectQuotasSchema, policy?.quotas ?? {});
    for (const [quota, value] of options.set) quotas[quota] = value;
    const { project } = await client.admin.setProjectPolicy({ projectId, planApproval, redirectUrls, quotas });
    if (asJson && project !== undefined) return context.print(messageText(ProjectSchema, project));
    for (const [quota, value] of options.set) context.print(`${quota}  ${wordOf(value)}`);
  },
);

/** Words that the user may type instead of a number for a quota, with the number that the API expects for each word. */
const words: ReadonlyMap<string, number> = new Map([
  ["default", 0],
  ["unlimited", unlimited],
]);

function collectQuota(text: string, before: readonly QuotaValue[]): readonly QuotaValue[] {
  const [, given, amount = ""] = /^(\w+)=(-?\w+)$/.exec(text) ?? [];
  const name = quotaNames.find((known) => known === given);
  if (name !== undefined) {
    const value = words.get(amount) ?? readAmount(amount);
    if (value !== undefined) return [...before, [name, value]];
  }
  throw new InvalidArgumentError(
    `expected one of ${quotaNames.join(", ")} and a whole number, \`default\` or \`unlimited\`, such as calls=100`,
  );
}

/**
 * Returns the number for a quota, or undefined if the text is not a number. Throws InvalidArgumentError for 0 and for numbers that are too
 * large.
 */
function readAmount(text: string): number | undefined {
  if (!/^(?:-1|\d+)$/.test(text)) return undefined;
  const value = Number(text);
  if (value === 0)
    throw new InvalidArgumentError(
      "0 does not forbid anything: use `default`, or revoke the project's keys to forbid everything",
    );
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(`expected at most ${Number.MAX_SAFE_INTEGER}, or \`unlimited\``);
  return value;
}

function wordOf(value: number): string {
  return [...words].find(([, known]) => known === value)?.[0] ?? String(value);
}

type PolicyValues = {
  readonly project: string;
  readonly redirectUrl?: readonly string[];
  readonly redirects: boolean;
  readonly planApproval?: string;
  readonly httpHost: readonly string[];
  readonly httpHosts: boolean;
};

const policyHelp = `
What no option names stays as it is. --confirm needs --confirm-by unless it is never.
All redirect URLs are replaced together, and so are all hosts. A host does not include its subdomains.
\`svc projects quotas\` sets the quotas.`;

/**
 * The command `svc projects policy`, which sets what a project may do: for example its redirect URLs, and which of its calls need
 * confirmation.
 */
export const addProjectPolicy = call(AdminService.method.setProjectPolicy, {
  says: "change a project's policy: redirect URLs, plan approval, hosts for http steps, calls that a person confirms; the rest stays",
  takes: { "<project>": "id or name of the project" },
  options: [
    [
      "--redirect-url <url>",
      "address that browsers may be sent to after consent, can be repeated",
      { parse: collectUrl as never },
    ],
    ["--no-redirects", "browsers may be sent only to loopback addresses"],
    [
      "--plan-approval <least>",
      "the least approval that plans of its jobs need",
      { choices: ["never", "destructive", "always"] },
    ],
    [
      "--http-host <host>",
      "host that http steps may send requests to, can be repeated",
      { parse: collectText, default: [] },
    ],
    ["--no-http-hosts", "http steps may not send requests to any host"],
  ],
  hasConfirm: true,
  request: async ({ admin, values }: Run<PolicyValues>) => {
    const { redirectUrl, redirects, planApproval, httpHost: hosts, httpHosts } = values;
    const { id: projectId, policy } = await findProject(admin(), values.project);
    return {
      projectId,
      planApproval: planApproval ?? policy?.planApproval ?? "",
      redirectUrls: [...(redirectUrl ?? (redirects ? (policy?.redirectUrls ?? []) : []))],
      ...(hosts.length > 0 || !httpHosts ? { http: { hosts: [...hosts] } } : {}),
    };
  },
  result: "project",
  json: "the project with its policy as JSON",
  shows: ({ project }) => [
    `redirect URLs  ${project?.policy?.redirectUrls.join(", ") || "loopback only"}`,
    `plan approval  ${project?.policy?.planApproval || "never"}`,
    `http hosts     ${project?.policy?.http?.hosts.join(", ") || "none"}`,
    `confirm        ${confirmText(project?.policy?.confirm) || "nothing"}`,
  ],
  more: policyHelp,
  examples: [
    "svc projects policy default --redirect-url https://app.example.com/connected",
    "svc projects policy billing --plan-approval destructive",
    "svc projects policy billing --http-host api.example.com --http-host hooks.example.com:8443",
    "svc projects policy default --confirm destructive --confirm-by lead",
  ],
});

/**
 * Adds a URL to the URLs that the option had before. Throws InvalidArgumentError if the text is not a URL, because the service would name
 * the URL only by its index.
 */
function collectUrl(text: string, before: readonly string[] = []): string[] {
  if (URL.canParse(text)) return collectText(text, before);
  throw new InvalidArgumentError("expected an absolute URL, such as https://app.example.com/connected");
}
