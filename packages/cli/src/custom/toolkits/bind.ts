import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Finding } from "@svc/core/app-check";
import {
  type BindingQuestion,
  CatalogService,
  SharedSourceSchema,
  type ToolkitBinding,
  ToolkitBindingSchema,
  ToolkitConnectability,
} from "@svc/gen/catalog";
import { ConnectError, type SvcClient, type ToolkitConnectSpec } from "@svc/sdk";
import { ownProjectId } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { readText } from "../../command/input.ts";
import { collectPair } from "../../command/options.ts";
import { openAccount } from "../connect/connect.ts";
import { accountOptions, type ConnectInputs, chooseScheme } from "../connect/inputs.ts";
import { checkAccount, findingLines, refusedFinding } from "./check-account.ts";

type BindValues = ConnectInputs & {
  readonly toolkit: string;
  readonly baseUrl?: string;
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  readonly scopeBase?: string;
  readonly set: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly entity: string;
  readonly open: boolean;
  readonly connect: boolean;
  readonly check?: true;
  readonly replace?: true;
  readonly dryRun?: true;
};

/** The command `svc toolkits bind`, which uses a shared toolkit with a real app of the project, connects an account and checks it. */
export const addToolkitBind = command(
  CatalogService.method.importToolkit,
  {
    says: "use a shared toolkit with a real app, connect an account and check it; needs an approver's key",
    takes: { "<toolkit>": "slug of the shared toolkit, such as calendar" },
    words: "bind",
    options: [
      ["--base-url <url>", "address of the app's API (default: asked at a terminal, like the next ones)"],
      ["--authorize-url <url>", "address of the page on which people give consent, for oauth2"],
      ["--token-url <url>", "address from which the app issues tokens, for oauth2"],
      ["--scope-base <text>", "text before the name of every scope, for oauth2"],
      [
        "--set <path=answer>",
        "another answer that the toolkit asks for, such as auth[0].name=X-Api-Key; can be repeated",
        { default: {}, defaultText: "asked at a terminal", parse: collectPair },
      ],
      [
        "--from <file>",
        "read the binding from a JSON or YAML file, or with - from standard input; options have priority",
      ],
      ["--entity <id>", "owner of the account that is connected", { default: "ops" }],
      ...accountOptions,
      ["--no-connect", "store the binding only"],
      ["--check", "only check the connected account again"],
      ["--replace", "replace another private toolkit that has the slug"],
      ["--dry-run", "check the binding without storing it"],
    ],
    json: "the findings of the check as JSON",
    more: "\nThe project gets a bound copy of the toolkit: it has the same slug, and follows the toolkit that svc ships. The sandbox\nstill plays the other toolkits. The check makes two reads. The exit code is 0 only if all findings are good.",
    examples: [
      "svc toolkits bind sales_crm",
      "svc toolkits bind sales_crm --base-url https://api.example.com --key-env CRM_KEY",
      "svc toolkits bind search_engine --set 'auth[0].name=X-Api-Key' --var hostname=search.example.com --var port=443",
      "svc toolkits bind sales_crm --check",
    ],
  },
  async ({ values, context, project, asJson }: Run<BindValues>) => {
    const client = await project();
    const projectId = await ownProjectId(client);
    const findings =
      values.check === true
        ? await checkAgain(client, values, projectId)
        : await bind(client, values, { context, projectId });
    if (findings === undefined) return asJson ? context.print("[]") : undefined;
    if (asJson) context.print(JSON.stringify(findings, undefined, 2));
    else for (const line of findingLines(findings)) context.print(line);
    const wrong = findings.filter(({ isGood }) => !isGood).length;
    if (wrong > 0)
      throw new CommandError(
        `${values.toolkit} does not work as its definition says: ${wrong === 1 ? "1 finding is" : `${wrong} findings are`} wrong`,
      );
  },
);

/** Checks the account of the entity that was connected last. */
async function checkAgain(
  client: SvcClient,
  { toolkit, entity }: BindValues,
  projectId: string,
): Promise<readonly Finding[]> {
  const { accounts } = await client.connections.listConnections({
    toolkitSlug: toolkit,
    entityId: entity,
    state: "active",
  });
  const account = accounts.find(({ toolkitOwnerProjectId, sandbox }) => toolkitOwnerProjectId !== "" && !sandbox);
  if (account === undefined)
    throw new CommandError(`${entity} has no account of a bound ${toolkit}; run svc toolkits bind ${toolkit} first`);
  return checkAccount(client, account, projectId);
}

/** Stores the binding, connects an account and checks it. Returns undefined if nothing was connected. */
async function bind(
  client: SvcClient,
  values: BindValues,
  { context, projectId }: { readonly context: CommandContext; readonly projectId: string },
): Promise<readonly Finding[] | undefined> {
  const { toolkit: slug, dryRun = false, replace = false } = values;
  const { spec } = await client.catalog.getToolkitConnectSpec({ slug });
  if (spec === undefined) return undefined;
  const scheme = values.connect ? await chooseScheme(values, spec, context) : (values.scheme ?? "");
  const binding = await askBinding(values, { spec, scheme }, context);
  const own = (await client.catalog.getToolkit({ slug, projectId })).toolkit;
  const shared = create(SharedSourceSchema, { slug, binding });
  const { toolkit, report } = await client.catalog.importToolkit({
    shared,
    dryRun,
    replace: replace || own?.sourceKind === "shared",
  });
  context.note(`${slug} sends its calls to ${report?.baseUrl ?? ""}${dryRun ? ". Nothing is stored." : "."}`);
  if (dryRun || !values.connect) return undefined;
  if (scheme === "oauth2" && toolkit?.connectability !== ToolkitConnectability.READY) {
    context.note(
      `Register svc at the app and store its client with: svc toolkits client set ${slug}. Then run: svc connect ${slug} --entity ${values.entity}`,
    );
    return undefined;
  }
  try {
    const opened = await openAccount(client, slug, { ...values, scheme }, context);
    return opened && (await checkAccount(client, opened.account, projectId));
  } catch (err) {
    if (err instanceof ConnectError) return [refusedFinding(err)];
    throw err;
  }
}

/** Reads a binding from a file in JSON or YAML. Rejects with CommandError if the file has another form. */
async function readBinding(file: string, context: CommandContext): Promise<ToolkitBinding> {
  const text = await readText(file, file, context);
  try {
    const { parse } = await import("yaml");
    const { overlay, ...fields } = parse(text) as Record<string, JsonValue>;
    return fromJson(ToolkitBindingSchema, {
      ...fields,
      ...(overlay !== undefined && { overlayJson: JSON.stringify(overlay) }),
    });
  } catch (err) {
    const problem = err instanceof Error ? err.message.split("\n")[0] : String(err);
    throw new CommandError(`${file} is not a binding (${problem}): write fields such as baseUrl, values and overlay`);
  }
}

type Asked = { readonly spec: ToolkitConnectSpec; readonly scheme: string };

const oauthPaths = ["authorizeUrl", "tokenUrl", "scopeBase"];

/** Returns the binding from the options and the file. Asks for missing answers at the terminal. */
async function askBinding(
  values: BindValues,
  { spec, scheme }: Asked,
  context: CommandContext,
): Promise<ToolkitBinding> {
  const { baseUrl, authorizeUrl, tokenUrl, scopeBase } = values;
  const binding = create(
    ToolkitBindingSchema,
    values.from === undefined ? {} : await readBinding(values.from, context),
  );
  const given = { baseUrl, authorizeUrl, tokenUrl, scopeBase };
  for (const [name, text] of Object.entries(given)) if (text !== undefined) Object.assign(binding, { [name]: text });
  Object.assign(binding.values, values.set);
  const questions = spec.binding.filter(({ path }) => !oauthPaths.includes(path) || scheme === "oauth2");
  const open = questions.filter(({ path }) => answerOf(binding, path) === "");
  const needed = open.filter((question) => question.needed);
  if (context.terminal === undefined && needed.length > 0)
    throw new CommandError(`${spec.toolkitSlug} also needs ${needed.map(optionFor).join("; ")}`);
  for (const question of open) {
    const { ask, path, needed: isNeeded } = question;
    const answer = (await context.terminal?.ask(`${ask}${isNeeded ? "" : " (Enter for none)"}: `))?.trim() ?? "";
    if (answer !== "") setAnswer(binding, path, answer);
  }
  return binding;
}

function answerOf(binding: ToolkitBinding, path: string): string {
  return isField(path) ? binding[path] : (binding.values[path] ?? "");
}

function setAnswer(binding: ToolkitBinding, path: string, answer: string): void {
  if (isField(path)) binding[path] = answer;
  else binding.values[path] = answer;
}

function isField(path: string): path is "baseUrl" | "authorizeUrl" | "tokenUrl" | "scopeBase" {
  return path === "baseUrl" || oauthPaths.includes(path);
}

function optionFor({ ask, path }: BindingQuestion): string {
  const option = isField(path)
    ? `--${path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} …`
    : `--set '${path}=…'`;
  return `${option} (${ask})`;
}
