import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import { systemClock } from "@svc/core";
import { type Command, InvalidArgumentError } from "commander";
import { parse } from "yaml";
import { clientConfig } from "./client-config.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandError } from "./command-error.ts";
import { addServiceOptions, type ServiceOptions, serviceUrl } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { countText } from "./output.ts";
import { type SamplePost, samplePost, type TriggerFile } from "./sample-post.ts";
import { type ProviderPost, signPost } from "./sign-post.ts";

type Pairs = Readonly<Record<string, string>>;
type TriggerOptions = ServiceOptions & {
  trigger?: string;
  body?: string;
  header: Pairs;
  query: Pairs;
  secret?: string;
};
type ReceivingToolkit = Toolkit & { readonly webhook: Webhook };

/** Adds `svc trigger`. */
export function addTriggerCommand(program: Command, context: CommandContext): void {
  const trigger = program
    .command("trigger")
    .description("sign a sample event as the provider would, and post it to the service")
    .argument("<toolkit>", "slug of a toolkit that takes inbound posts")
    .option("--trigger <name>", "which of its triggers the sample is for (default: the first)")
    .option("--body <file>", "body to send instead of the sample's, byte for byte; - is standard input")
    .option("--header <name=value>", "header to send, over the sample's; may be given several times", collectPair, {})
    .option(
      "--query <name=value>",
      "query parameter to send, over the sample's; may be given several times",
      collectPair,
      {},
    )
    .option("--secret <text>", "shared secret to sign with (default: the toolkit's variable, as the service reads it)")
    .action((toolkit: string, options: TriggerOptions) => postSample(toolkit, options, context));
  addServiceOptions(trigger).addHelpText(
    "after",
    "\nThe secret is read from the variable that the toolkit's definition names, in the environment or in SVC_ENV_FILE,\nand must be the one the service was started with. The sample comes from the definitions in SVC_TOOLKITS.",
  );
  addExamples(trigger, [
    "SVC_WEBHOOK_SECRET_CALENDAR=swordfish svc trigger calendar",
    "svc trigger calendar --header x-calendar-resource-state=not_exists",
    'echo \'{"action":"opened"}\' | svc trigger code_host --body - --header x-code-event=issues',
  ]);
}

async function postSample(slug: string, options: TriggerOptions, context: CommandContext): Promise<void> {
  const url = serviceUrl(options, context);
  const { toolkit, folders } = await findToolkit(slug, context);
  const secret = secretOf(toolkit, options, context);
  const nowMs = systemClock.now();
  const sample = samplePost(await triggerFile(folders, toolkit, options.trigger), nowMs);
  const post = await composePost(sample, options, context);
  const found = expectation(toolkit, post);
  if (found.fault !== "") context.note(`Note: ${found.fault}.`);
  const answer = await send(`${url}/webhooks/${slug}`, signPost(toolkit.webhook, post, secret, nowMs));
  if (answer.status < 200 || answer.status > 299) throw new CommandError(refusalText(toolkit, answer));
  context.print(acceptedText(answer, found.slug));
}

async function findToolkit(slug: string, context: CommandContext) {
  const { toolkitFolders: folders, deploymentFile } = await clientConfig(context);
  const { loadCatalog, loadDeployment } = await import("@svc/catalog");
  const deployment = deploymentFile === undefined ? undefined : await loadDeployment(deploymentFile);
  const { toolkits } = await loadCatalog({ folders, deployment });
  const toolkit = toolkits.get(slug);
  if (toolkit !== undefined && takesPosts(toolkit)) return { toolkit, folders };
  const slugs = [...toolkits.values()].filter(takesPosts).map((known) => known.slug);
  const fault = toolkit === undefined ? `there is no toolkit "${slug}"` : `toolkit "${slug}" takes no inbound posts`;
  throw new CommandError(`${fault} in ${folders.join(", ")}; those that take posts: ${slugs.join(", ") || "none"}`);
}

function takesPosts(toolkit: Toolkit): toolkit is ReceivingToolkit {
  return toolkit.webhook !== undefined;
}

function secretOf(
  { slug, webhook }: ReceivingToolkit,
  { secret }: TriggerOptions,
  { environment }: CommandContext,
): string {
  // The variable may hold several, while one is rotated: any of them verifies.
  const found = secret ?? environment.get(webhook.secretEnv)?.trim().split(/\s+/)[0];
  if (found !== undefined && found !== "") return found;
  throw new CommandError(
    `no secret to sign with: set ${webhook.secretEnv} to the same text here and for the service, or give --secret. ` +
      `One to start with: export ${webhook.secretEnv}=$(openssl rand -hex 32), then \`svc serve\`, and \`svc trigger ${slug}\` in a shell that has it too`,
  );
}

/** Reads the definition that the catalog has compiled: a sample needs it as it was written. */
async function triggerFile(
  folders: readonly string[],
  { slug, triggers }: ReceivingToolkit,
  name?: string,
): Promise<TriggerFile> {
  const trigger =
    name === undefined ? triggers[0] : triggers.find((known) => known.name === name || known.slug === name);
  if (trigger === undefined) {
    const names = triggers.map((known) => known.name).join(", ") || "none";
    throw new CommandError(`toolkit "${slug}" has no trigger "${name ?? ""}"; it has: ${names}`);
  }
  for (const folder of folders) {
    const text = await readFile(join(folder, slug, "tools", `${trigger.name}.yaml`), "utf8").catch(() => undefined);
    if (text !== undefined) return parse(text) as TriggerFile;
  }
  throw new CommandError(`the definition of ${trigger.slug} is gone from ${folders.join(", ")}`);
}

async function composePost(
  sample: SamplePost,
  options: TriggerOptions,
  context: CommandContext,
): Promise<ProviderPost> {
  const body = options.body === undefined ? sampleBody(sample) : await readBody(options.body, context);
  const type: Pairs = body.length === 0 ? {} : { "content-type": "application/json" };
  const given = Object.entries(options.header).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    headers: { ...type, ...sample.headers, ...Object.fromEntries(given) },
    query: { ...sample.query, ...options.query },
    body,
  };
}

function sampleBody({ body }: SamplePost): Buffer {
  return Buffer.from(body === undefined ? "" : JSON.stringify(body));
}

async function readBody(file: string, context: CommandContext): Promise<Buffer> {
  if (file === "-") return context.readInput();
  try {
    return await readFile(file);
  } catch (err) {
    throw new CommandError(`--body ${file} cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** What the definitions here will make of a post: the trigger it is for, or why it will be none. */
function expectation(
  { slug, webhook, triggers }: ReceivingToolkit,
  post: ProviderPost,
): { slug: string; fault: string } {
  const parsed = { headers: post.headers, query: post.query, body: parsedBody(post.body) };
  if (webhook.ignores(parsed))
    return { slug: "", fault: `${slug} ignores such a post; the service will store nothing` };
  const trigger: Trigger | undefined = triggers.find((known) => known.matches(parsed));
  if (trigger === undefined)
    return { slug: "", fault: `no trigger of ${slug} matches; the service will keep the post in quarantine` };
  const normalized = trigger.normalize(parsed);
  if (!("fault" in normalized)) return { slug: trigger.slug, fault: "" };
  return {
    slug: trigger.slug,
    fault: `${trigger.slug}: ${normalized.fault}; the service will keep the post in quarantine`,
  };
}

function parsedBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined; // a trigger may match by headers alone
  }
}

type Answer = { status: number; body: string };

async function send(url: string, { headers, query, body }: ProviderPost): Promise<Answer> {
  const search = new URLSearchParams(query).toString();
  try {
    const options = { method: "POST", headers, ...(body.length === 0 ? {} : { body }) };
    const answer = await fetch(search === "" ? url : `${url}?${search}`, options);
    return { status: answer.status, body: await answer.text() };
  } catch (err) {
    const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new CommandError(
      `cannot reach ${url}: ${reason}. Start the service with \`svc serve\`, or give its address with --url or SVC_URL.`,
    );
  }
}

function acceptedText({ status, body }: Answer, triggerSlug: string): string {
  const accepted = (parsedBody(Buffer.from(body)) as { accepted?: unknown } | undefined)?.accepted;
  if (typeof accepted !== "number") return `${status} ${body.slice(0, 200)}`;
  return `${status} ${countText(accepted, "event")} stored${accepted === 0 ? "" : ` (${triggerSlug})`}`;
}

function refusalText({ slug, webhook }: ReceivingToolkit, { status, body }: Answer): string {
  const { message } = (parsedBody(Buffer.from(body)) as { message?: unknown } | undefined) ?? {};
  const text = `the service refused with ${status}: ${typeof message === "string" ? message : body.slice(0, 200)}`;
  if (status === 403) {
    return `${text}. Set ${webhook.secretEnv} for the service, to the text that is used here, in its environment (and start it again) or in its SVC_ENV_FILE (and send it SIGHUP).`;
  }
  if (status === 401) return `${text}. Is ${webhook.secretEnv} the same here and for the service?`;
  return status === 404 ? `${text}. Are its definitions those of ${slug} here?` : text;
}

function collectPair(text: string, pairs: Pairs): Pairs {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected name=value");
  return { ...pairs, [text.slice(0, at)]: text.slice(at + 1) };
}
