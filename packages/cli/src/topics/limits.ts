import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { callLimitBounds, formatDuration, parseDuration } from "@svc/core";
import { type CallLimit, ToolsService } from "@svc/gen/tools";
import { InvalidArgumentError } from "commander";
import type { Run } from "../command/declared.ts";
import { countUpTo } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";

const { listCallLimits, putCallLimit, deleteCallLimit } = ToolsService.method;
const parseRateMax = countUpTo(callLimitBounds.rateMax);

type Rate = { readonly max: number; readonly per: ReturnType<typeof durationFromMs> };

type PutValues = {
  readonly name: string;
  readonly toolkit?: string;
  readonly key?: string;
  readonly concurrency?: number;
  readonly rate?: Rate;
  readonly paused?: boolean;
};

/** The commands `svc limits list|put|delete`, for the project's call limits (the most tool calls in a time). */
export const addLimitsCommand = topic({
  says: "list, create and delete the project's call limits",
  examples: ["svc limits", "svc limits put calendar --toolkit calendar --key accountId --rate 10/1s"],
  commands: {
    list: list(listCallLimits, {
      says: "list the project's call limits by name",
      isDefault: true,
      rows: "limits",
      table: {
        NAME: ({ name }) => name,
        TOOLKIT: ({ toolkitSlug }) => toolkitSlug || "-",
        "HOLDS CALLS TO": boundsText,
        KEY: ({ keyExpression }) => plainText(keyExpression) || "-",
      },
      json: "the limits as a JSON list",
      examples: ["svc limits list"],
    }),
    put: call(putCallLimit, {
      says: "create a call limit, or replace it completely",
      takes: { "<name>": "your own name for the limit" },
      options: [
        ["--toolkit <slug>", "only calls of this toolkit"],
        [
          "--key <cel>",
          "limiter key: calls with the same key count together; an expression over toolSlug, entityId, accountId, accessClass",
        ],
        ["--concurrency <count>", "calls that may run at once", { parse: countUpTo(callLimitBounds.concurrencyMax) }],
        ["--rate <max/time>", "calls that may begin within a time, such as 10/1s", { parse: parseRate }],
        ["--paused", "stop all calls until the limit is set again without this option"],
      ],
      request: ({
        values: { name, toolkit = "", key = "", concurrency = 0, rate, paused = false },
      }: Run<PutValues>) => ({
        limit: { name, toolkitSlug: toolkit, keyExpression: key, concurrency, paused, ...(rate && { rate }) },
      }),
      result: "limit",
      json: "the limit as JSON",
      shows: ({ limit }, { values: { name } }) => (limit === undefined ? [] : `${name}: ${boundsText(limit)}`),
      examples: [
        "svc limits put calendar --toolkit calendar --key accountId --rate 10/1s --concurrency 4",
        `svc limits put writes --key 'accessClass == "read" ? null : accountId' --rate 100/1h`,
        "svc limits put maintenance --toolkit calendar --paused",
      ],
    }),
    delete: call(deleteCallLimit, {
      says: "delete a call limit; waiting calls continue",
      takes: { "<name>": "name of the limit" },
      deleted: "name",
      json: "the name as JSON",
      shows: "{name} is deleted",
      examples: ["svc limits delete calendar"],
    }),
  },
});

/** Returns a rate from a text such as `10/1s`. Throws InvalidArgumentError for any other text. */
function parseRate(text: string): Rate {
  const [, max = "", per = ""] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  const calls = max === "" ? 0 : parseRateMax(max);
  try {
    if (calls > 0) return { max: calls, per: durationFromMs(parseDuration(per)) };
  } catch {
    // An invalid duration is reported by the `throw` after this block.
  }
  throw new InvalidArgumentError("expected calls and a time, such as 10/1s or 100/1h");
}

/** Returns the bounds of a call limit as text (for example `4 at once, 10 in 1s`). */
function boundsText({ concurrency, rate, paused }: CallLimit): string {
  if (paused) return "paused";
  const bounds = [
    ...(concurrency > 0 ? [`${concurrency} at once`] : []),
    ...(rate?.per === undefined ? [] : [`${rate.max} in ${formatDuration(Math.round(durationMs(rate.per)))}`]),
  ];
  return bounds.join(", ");
}
