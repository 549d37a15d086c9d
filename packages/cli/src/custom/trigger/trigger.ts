import { readFile } from "node:fs/promises";
import type { Post, SamplePost, UnsignedPost } from "@svc/catalog";
import { systemClock } from "@svc/core";
import { ownProjectId, type ProjectOptions, serverUrl } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { readSecretOption } from "../../command/input.ts";
import { collectPair, type JsonOption } from "../../command/options.ts";
import { acceptedJson, acceptedText, refusalText, sendPost, storedCount } from "./provider-answer.ts";
import {
  chooseTrigger,
  findPrivateToolkit,
  findReceivingToolkit,
  type ReceivingToolkit,
  signPost,
} from "./receiving-toolkit.ts";

type Pairs = Readonly<Record<string, string>>;
type SecretOptions = { secret?: string; secretStdin?: true; secretEnv?: string; private?: true };
type PostOptions = SecretOptions & { body?: string; header: Pairs; query: Pairs };
type TriggerOptions = ProjectOptions & JsonOption & PostOptions & { trigger?: string };

/** Rules for reading an option whose value is a pair `name=value`. */
const pairs = { parse: collectPair, default: {}, defaultText: "none" } as const;

/** The command `svc trigger`, which signs a sample webhook post as the app would and posts it to the service. */
export const addTriggerCommand = command(
  undefined,
  {
    says: "sign a sample event as the provider would, and post it to the service",
    takes: { "<toolkit>": "slug of a toolkit that receives posts; with --private, also its folder" },
    options: [
      ["--trigger <name>", "trigger of the sample (default: the first)"],
      ["--body <file>", "body to send instead of the sample's, byte for byte; - is standard input"],
      ["--header <name=value>", "header to send, replaces the sample's; can be repeated", pairs],
      ["--query <name=value>", "query parameter to send, replaces the sample's; can be repeated", pairs],
      ["--secret <text>", "shared secret to sign with (default: the toolkit's variable, as the service reads it)"],
      ["--secret-stdin", "read the secret from standard input", { conflicts: "secret" }],
      ["--secret-env <name>", "read the secret from this environment variable", { conflicts: "secret" }],
      ["--private", "post to a private toolkit of the key's project; its secret has no variable of its own"],
    ],
    json: "the answer and the matching trigger as JSON",
    more: "\nThe secret is read from the variable that the toolkit's definition names, in the environment or in SVC_ENV_FILE.\nThe service must have been started with the same one. The sample comes from the definitions in SVC_TOOLKITS.\nWith --private, the secret is one that `svc webhooks secrets put` has stored. The sample comes from the toolkit's folder.",
    client: "project",
    examples: [
      "SVC_WEBHOOK_SECRET_CALENDAR=swordfish svc trigger calendar",
      "svc trigger calendar --header x-calendar-resource-state=not_exists",
      "svc trigger my_toolkit --body post.json --header x-my-event=opened   # a toolkit of your own, in SVC_TOOLKITS",
      "svc trigger my-toolkits/help_desk --private --secret-stdin < secret",
    ],
  },
  async ({ values: options, context, asJson, project }: Run<TriggerOptions & { readonly toolkit: string }>) => {
    const { toolkit: given } = options;
    const url = serverUrl(options, context);
    if (options.body === "-" && options.secretStdin === true)
      throw new CommandError("--body - and --secret-stdin both read standard input: use --secret-env", 2);
    const projectId = options.private === true ? await ownProjectId(await project()) : "";
    const toolkit =
      projectId === ""
        ? await findReceivingToolkit(given, context)
        : await findPrivateToolkit(given, projectId, context);
    const secret = await secretOf(toolkit, options, context);
    const nowMs = systemClock.now();
    const sample = chooseTrigger(toolkit, options.trigger).sample(nowMs);
    const publicUrl = (context.environment.get("SVC_PUBLIC_URL")?.trim() || url).replace(/\/+$/, "");
    const path = `/webhooks/${projectId === "" ? "" : `${projectId}/`}${toolkit.slug}`;
    const composed = { path, ...(await composePost(toolkit, sample, options, context)) };
    const post = signPost(toolkit, composed, secret, { nowMs, publicUrl });
    const found = await expectation(toolkit, post);
    if (found.fault !== "") context.note(`Note: ${found.fault}.`);
    const answer = await sendPost(`${url}${post.path}`, post);
    if (answer.status < 200 || answer.status > 299) throw new CommandError(refusalText(toolkit, answer));
    context.print(asJson ? acceptedJson(answer, found.slug) : acceptedText(answer, found.slug));
    if (found.slug !== "" && projectId === "" && storedCount(answer) === 0)
      context.note(`Note: ${whyUnstored(toolkit, found)}.`);
  },
);

/**
 * Returns the secret with which the command signs a sample webhook post: from an option, or else from the variable that the toolkit's
 * definition names.
 */
async function secretOf(
  { slug, webhook }: ReceivingToolkit,
  options: SecretOptions,
  context: CommandContext,
): Promise<string> {
  const { secret, secretStdin, secretEnv } = options;
  const isPrivate = options.private === true;
  const isRead = secretStdin !== undefined || secretEnv !== undefined || (isPrivate && secret === undefined);
  const found = isRead
    ? await readSecretOption("Secret of the webhook", options, context)
    : // During a rotation, the variable may contain several secrets. All are valid, so the command uses the first.
      (secret ?? context.environment.get(webhook.secretEnv)?.trim().split(/\s+/)[0]);
  if (found !== undefined && found !== "") return found;
  if (isPrivate)
    throw new CommandError(
      `no secret to sign with: give --secret-stdin or --secret-env; \`svc webhooks secrets put ${slug}\` makes one`,
    );
  throw new CommandError(
    `no secret to sign with: set ${webhook.secretEnv} to the same text here and for the service, or give --secret. ` +
      `To begin: export ${webhook.secretEnv}=$(openssl rand -hex 32), then \`svc serve\`, and \`svc trigger ${slug}\` in a shell with the same variable`,
  );
}

async function composePost(
  { webhook }: ReceivingToolkit,
  sample: SamplePost,
  options: PostOptions,
  context: CommandContext,
): Promise<Omit<UnsignedPost, "path">> {
  const own = options.body === undefined ? undefined : await readBody(options.body, context);
  const { encodeSample } = await import("@svc/catalog");
  const encoded = encodeSample(webhook, sample);
  const type: Pairs = own === undefined || own.length === 0 ? {} : { "content-type": "application/json" };
  const given = Object.entries(options.header).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    headers: {
      ...(own === undefined ? encoded.headers : { ...type, ...sample.headers }),
      ...Object.fromEntries(given),
    },
    query: { ...encoded.query, ...options.query },
    body: own ?? encoded.body,
  };
}

async function readBody(file: string, context: CommandContext): Promise<Buffer> {
  if (file === "-") return context.readInput();
  try {
    return await readFile(file);
  } catch (err) {
    throw new CommandError(`--body ${file} cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/**
 * The result that the toolkit definitions on this computer predict for a webhook post. `slug`: the trigger that accepts the post, or an
 * empty text. `fault`: the reason why no trigger accepts the post. `account`: the app's own id of the account in the post.
 */
type Expectation = { readonly slug: string; readonly fault: string; readonly account?: string };

/**
 * Returns the result that the toolkit definitions on this computer predict for a webhook post: its trigger, or the reason why no trigger
 * accepts it.
 */
async function expectation(toolkit: ReceivingToolkit, { headers, query, body }: UnsignedPost): Promise<Expectation> {
  const { slug, webhook } = toolkit;
  const { elementsOf, readPostBody } = await import("@svc/catalog");
  const read = await readPostBody(webhook.body, { headers, body }, { bodyBytesMax: 1_048_576, turn: async () => {} });
  const post = { headers, query, body: "value" in read ? read.value : undefined };
  if (webhook.ignores(post)) return { slug: "", fault: `${slug} ignores such a post; the service will store nothing` };
  if ("fault" in read) return keeping(read.fault);
  const elements = elementsOf(webhook.body, post.body);
  if (elements === undefined) return keeping("the body does not have the list that webhook.each names");
  const found = elements.map((item) => expectationOf(toolkit, item === undefined ? post : { ...post, item }));
  return found.find(({ fault }) => fault === "") ?? found[0] ?? { slug: "", fault: "the list of the post is empty" };
}

/** Returns the predicted result of one webhook post, or of one element of a list. */
function expectationOf({ slug, triggers }: ReceivingToolkit, post: Post): Expectation {
  const trigger = triggers.find((known) => known.matches(post));
  const normalized = trigger?.normalize(post) ?? { fault: "no trigger matches" };
  if ("fault" in normalized) return keeping(`${trigger?.slug ?? slug}: ${normalized.fault}`);
  return { slug: trigger?.slug ?? "", fault: "", account: normalized.account };
}

function keeping(fault: string): Expectation {
  return { slug: "", fault: `${fault}; the service will keep the post in quarantine` };
}

/** Returns the message for a webhook post that svc kept in quarantine, because no project receives the post. */
function whyUnstored({ slug }: ReceivingToolkit, { account = "" }: Expectation): string {
  const named =
    account === ""
      ? "the post names no account"
      : `no connected account has the reference "${account}" (\`svc connections references\` sets one)`;
  const everyone = `toolkits.${slug}.webhook.audience: projects in the service's deployment file, or without one SVC_WEBHOOK_AUDIENCE, lets every project have it`;
  return `${named}, and the post is kept in quarantine; ${everyone}`;
}
