import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { callLimitBounds, parseDuration } from "@svc/core";
import { CallLimitSchema } from "@svc/gen/tools";
import { type Command, InvalidArgumentError } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, countUpTo, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { boundsText } from "./bounds.ts";

const parseConcurrency = countUpTo(callLimitBounds.concurrencyMax);
const parseRateMax = countUpTo(callLimitBounds.rateMax);

type Rate = { readonly max: number; readonly per: ReturnType<typeof durationFromMs> };

type PutOptions = ProjectOptions &
  JsonOption & { toolkit?: string; key?: string; concurrency?: number; rate?: Rate; paused?: true };

/** Adds `svc limits put`. */
export function addLimitPut(limits: Command, context: CommandContext): void {
  const put = limits
    .command("put")
    .description("create a call limit, or replace it as a whole")
    .argument("<name>", "your own name of the limit")
    .option("--toolkit <slug>", "only calls of this toolkit")
    .option("--key <cel>", "what is counted together, over toolSlug, entityId, accountId, accessClass")
    .option("--concurrency <count>", "calls under way at once", parseConcurrency)
    .option("--rate <max/time>", "calls that begin within a time, such as 10/1s", parseRate)
    .option("--paused", "no call goes until the limit is put again without this")
    .action((name: string, options: PutOptions) => putLimit(name, options, context));
  addProjectOptions(addJson(put, "the limit as JSON"));
  addExamples(put, [
    "svc limits put calendar --toolkit calendar --key accountId --rate 10/1s --concurrency 4",
    `svc limits put writes --key 'accessClass == "read" ? null : accountId' --rate 100/1h`,
    "svc limits put maintenance --toolkit calendar --paused",
  ]);
}

/** Reads 10/1s. Throws InvalidArgumentError. */
function parseRate(text: string): Rate {
  const [, max = "", per = ""] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  const calls = max === "" ? 0 : parseRateMax(max);
  try {
    if (calls > 0) return { max: calls, per: durationFromMs(parseDuration(per)) };
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError("expected calls and a time, such as 10/1s or 100/1h");
}

async function putLimit(name: string, options: PutOptions, context: CommandContext): Promise<void> {
  const { toolkit: toolkitSlug = "", key: keyExpression = "", concurrency = 0, rate, paused = false } = options;
  const { tools } = await openProjectClient(options, context);
  const limit = { name, toolkitSlug, keyExpression, concurrency, paused, ...(rate && { rate }) };
  const put = await tools.putCallLimit({ limit });
  if (put.limit === undefined) return;
  if (options.json) return context.print(messageText(CallLimitSchema, put.limit));
  context.print(`${name}: ${boundsText(put.limit)}`);
}
