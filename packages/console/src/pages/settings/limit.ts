import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallLimit, CallLimitSchema } from "@svc/gen/tools";
import { durationWords } from "../../words/time.ts";

/** A call limit as the user types it. An empty number means no limit. */
export type TypedLimit = {
  name: string;
  toolkitSlug: string;
  keyExpression: string;
  concurrency: string;
  rateMax: string;
  ratePer: string;
  paused: boolean;
};

/**
 * Returns the initial texts of the form for a call limit: the values of `limit`, or the defaults of a new limit if `limit` is undefined.
 */
export function typedOf(limit: CallLimit | undefined): TypedLimit {
  const numberText = (value: number) => (value === 0 ? "" : String(value));
  return {
    name: limit?.name ?? "",
    toolkitSlug: limit?.toolkitSlug ?? "",
    keyExpression: limit?.keyExpression ?? "",
    concurrency: numberText(limit?.concurrency ?? 0),
    rateMax: numberText(limit?.rate?.max ?? 0),
    ratePer: numberText(Number(limit?.rate?.per?.seconds ?? 0)),
    paused: limit?.paused ?? false,
  };
}

/**
 * Returns the limit for the typed values. A text that is not a number is sent as an invalid number, so that the service reports the error.
 */
export function limitOf(typed: TypedLimit): MessageInitShape<typeof CallLimitSchema> {
  const { rateMax, ratePer, concurrency, ...rest } = typed;
  const hasRate = rateMax.trim() !== "" || ratePer.trim() !== "";
  return {
    ...rest,
    concurrency: wholeOf(concurrency),
    ...(hasRate && { rate: { max: wholeOf(rateMax), per: { seconds: BigInt(wholeOf(ratePer)) } } }),
  };
}

function wholeOf(text: string): number {
  if (text.trim() === "") return 0;
  const number = Number(text);
  return Number.isSafeInteger(number) && Math.abs(number) < 2 ** 31 ? number : -1;
}

/** Returns a limit in words: `4 at once, 100 in 1 min`. */
export function limitWords({ concurrency, rate, paused }: CallLimit): string {
  const parts = [
    ...(paused ? ["paused: no call goes"] : []),
    ...(concurrency > 0 ? [`${concurrency} at once`] : []),
    ...(rate === undefined ? [] : [`${rate.max} in ${durationWords(Number(rate.per?.seconds ?? 0) * 1_000)}`]),
  ];
  return parts.join(", ");
}
