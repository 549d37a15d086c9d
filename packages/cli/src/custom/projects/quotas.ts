import { create } from "@bufbuild/protobuf";
import { quotaNames, unlimited } from "@svc/core";
import { AdminService, ProjectQuotasSchema, ProjectSchema } from "@svc/gen/admin";
import { InvalidArgumentError } from "commander";
import type { AdminOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { findProject } from "./find-project.ts";

type QuotaValue = readonly [name: (typeof quotaNames)[number], value: number];
type QuotasOptions = AdminOptions & JsonOption & { set: readonly QuotaValue[] };

/** Adds `svc projects quotas`. */
export const addProjectQuotas = command(
  AdminService.method.setProjectPolicy,
  {
    says: "set how much of the service a project may use; quotas that are not named stay as they are",
    takes: { "<project>": "id or name of the project" },
    options: [
      [
        "--set <quota=number>",
        `a quota and what there may be of it, again for a further one: ${quotaNames.join(", ")}; a whole number, \`default\`, or \`unlimited\` (-1)`,
        { required: true, parse: collectQuota, default: [] },
      ],
    ],
    json: "the project with its policy as JSON",
    examples: [
      "svc projects quotas billing --set calls=100 --set jobs=500",
      "svc projects quotas billing --set calls=default --set storedBytes=unlimited",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<QuotasOptions & { readonly project: string }>) => {
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

/** Words for what the contract writes as numbers. */
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

/** A number as the contract has it; undefined for what is none. Throws InvalidArgumentError for one that would be read as another. */
function readAmount(text: string): number | undefined {
  if (!/^(?:-1|\d+)$/.test(text)) return undefined;
  const value = Number(text);
  if (value === 0)
    throw new InvalidArgumentError(
      "0 forbids nothing: say `default`, or revoke the project's keys to forbid everything",
    );
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(`expected at most ${Number.MAX_SAFE_INTEGER}, or \`unlimited\``);
  return value;
}

function wordOf(value: number): string {
  return [...words].find(([, known]) => known === value)?.[0] ?? String(value);
}
