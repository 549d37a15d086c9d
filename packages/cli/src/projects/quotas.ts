import { create } from "@bufbuild/protobuf";
import { quotaNames, unlimited } from "@svc/core";
import { ProjectQuotasSchema, ProjectSchema } from "@svc/gen/admin";
import { type Command, InvalidArgumentError } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { findProject } from "./find-project.ts";

type QuotaValue = readonly [name: (typeof quotaNames)[number], value: number];
type QuotasOptions = AdminOptions & JsonOption & { set: readonly QuotaValue[] };

/** Adds `svc projects quotas`. */
export function addProjectQuotas(projects: Command, context: CommandContext): void {
  const quotas = projects
    .command("quotas")
    .description("set how much of the service a project may use; quotas that are not named stay as they are")
    .argument("<project>", "id or name of the project")
    .requiredOption(
      "--set <quota=number>",
      `a quota and what there may be of it, again for a further one: ${quotaNames.join(", ")}; a whole number, \`default\`, or \`unlimited\` (-1)`,
      collectQuota,
      [],
    )
    .action((project: string, options: QuotasOptions) => setQuotas(project, options, context));
  addExamples(addAdminOptions(addJson(quotas, "the project with its policy as JSON")), [
    "svc projects quotas billing --set calls=100 --set jobs=500",
    "svc projects quotas billing --set calls=default --set storedBytes=unlimited",
  ]);
}

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

async function setQuotas(name: string, options: QuotasOptions, context: CommandContext): Promise<void> {
  const client = openAdminClient(options, context);
  const { id: projectId, policy } = await findProject(client, name);
  const { planApproval = "", redirectUrls = [] } = policy ?? {};
  const quotas = create(ProjectQuotasSchema, policy?.quotas ?? {});
  for (const [quota, value] of options.set) quotas[quota] = value;
  const { project } = await client.admin.setProjectPolicy({ projectId, planApproval, redirectUrls, quotas });
  if (options.json && project !== undefined) return context.print(messageText(ProjectSchema, project));
  for (const [quota, value] of options.set) context.print(`${quota}  ${wordOf(value)}`);
}

function wordOf(value: number): string {
  return [...words].find(([, known]) => known === value)?.[0] ?? String(value);
}
