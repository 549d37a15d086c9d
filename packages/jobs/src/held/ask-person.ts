import { askPort } from "@svc/asks";
import { type Action, type JsonSchema, marksSensitive } from "@svc/catalog";
import { type Binding, confirmLifeMs, type Fault, formatValue, type Id, isObject } from "@svc/core";
import { loadJob } from "@svc/db/jobs/load";
import { findKeyById } from "@svc/db/keys/repo";
import { maskArguments, type PersonAsker, type PersonalCall } from "@svc/tools";
import type { JobsContext } from "../api/context.ts";
import { submit } from "../api/submit.ts";
import { jobFaults } from "../errors.ts";
import { isEnd } from "../state/statuses.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the text of a program that makes exactly one tool call: the call that a person must confirm. Equal calls give equal texts. Values
 * that the tool marks as sensitive are not written into the steps. They become the program's input.
 */
function heldProgramText({ action, args, entityId }: PersonalCall): string {
  const schemas = propertiesOf(action);
  const secret = Object.keys(args).filter((name) => isSecret(schemas[name]));
  const written = Object.entries(args).map(([name, value]) => [
    name,
    secret.includes(name) ? { $ref: `input.${name}` } : { $literal: value },
  ]);
  const isDestructive = action.class === "destructive";
  return JSON.stringify({
    version: 1,
    title: action.slug,
    ...(secret.length > 0 && { inputSchema: inputSchemaOf(schemas, secret), input: pick(args, secret) }),
    steps: [
      {
        id: "call",
        call: action.slug,
        entity: entityId,
        args: { ...Object.fromEntries(written), ...(isDestructive && { confirm: true }) },
      },
    ],
  });
}

function propertiesOf({ inputSchema }: Action): Values {
  const { properties } = inputSchema;
  return isObject(properties) ? properties : {};
}

function isSecret(schema: unknown): boolean {
  return isObject(schema) && marksSensitive(schema as JsonSchema);
}

function inputSchemaOf(schemas: Values, names: readonly string[]) {
  return { type: "object", additionalProperties: false, required: [...names], properties: pick(schemas, names) };
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Dependencies of asking a person about calls. */
type PersonAskerContext = Pick<
  JobsContext,
  "db" | "clock" | "sealer" | "views" | "meter" | "accounts" | "engine" | "programs" | "sandboxMode"
>;

type AskResult = { readonly jobId: Id<"job"> } | { readonly refusal: Fault };

/**
 * Maximum number of questions to a person about the same call in the time that a person has to answer. It applies to calls without an
 * idempotency key.
 */
const repeatsMax = 20;

/**
 * Returns the function that makes a person confirm a held tool call. It submits a job that makes the call after a contact has agreed. Equal
 * calls have at most one open question. A call with an idempotency key is asked about only once.
 */
export function createPersonAsker(context: PersonAskerContext): PersonAsker {
  return (call) => askPerson(context, call);
}

async function askPerson(context: PersonAskerContext, call: PersonalCall): Promise<AskResult> {
  if (call.isNamed) return askOnce(context, call, "");
  const period = Math.floor(context.clock.now() / confirmLifeMs);
  for (let repeat = 0; repeat < repeatsMax; repeat++) {
    const asked = await askOnce(context, call, `:${period}:${repeat}`);
    if ("refusal" in asked) return asked;
    const job = await loadJob(context.db, asked.jobId);
    // If the job of an earlier question about an equal call is still running, that job is returned. If it has ended, its answer covered
    // only that earlier call. The loop then starts a new question for the present call.
    if (job !== undefined && !isEnd(job.status)) return asked;
  }
  return { refusal: jobFaults.CONFIRM_ASKED_TOO_OFTEN(call.action.slug, repeatsMax) };
}

async function askOnce(context: PersonAskerContext, call: PersonalCall, repeat: string): Promise<AskResult> {
  const { caller, name, accountId } = call;
  const { projectId, keyId, role = "member", confirm } = caller;
  if (keyId === undefined) throw new Error("a call without a key cannot be confirmed");
  const submitted = await submit(
    { ...context, asks: askPort },
    {
      ...{ projectId, keyId, role, confirm },
      binding: { ...(caller.binding ?? unbound), accountId },
      programJson: heldProgramText(call),
      mode: "live",
      simulateFirst: false,
      idempotencyKey: `confirm:${name}${repeat}`,
      confirmText: textOf(call, (await findKeyById(context.db, keyId))?.name ?? keyId),
    },
  );
  return "refusal" in submitted ? submitted : { jobId: submitted.id };
}

/** An access scope without any limit. */
const unbound: Binding = { entityId: "", accessClasses: [], toolkitSlugs: [] };

const argumentsMax = 1_500;

/**
 * Returns the question that asks a person to confirm a tool call: tool, account, the key that made the call, and the arguments with
 * sensitive values masked.
 */
function textOf({ action, args, entityId }: PersonalCall, keyName: string): string {
  const json = JSON.stringify(maskArguments(action.inputSchema, args));
  const shown = json.length > argumentsMax ? `${json.slice(0, argumentsMax).toWellFormed()}… (cut)` : json;
  const asks = `Carry out ${action.slug} (${action.class}) with the account of ${formatValue(entityId)}?`;
  return `${asks} Asked for by the key ${formatValue(keyName)}. Arguments: ${shown}`;
}
