import type { Estimate } from "@svc/gen/jobs";

/** What a program can do at most, as names and values; what it does not do at all is left out. */
export function estimateFacts(estimate: Estimate): (readonly [name: string, value: string | undefined])[] {
  const { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMax, toolkits, entities, notCompensable } =
    estimate;
  const count = (value: number) => (value === 0 ? undefined : value.toLocaleString("en"));
  const list = (values: readonly string[]) => (values.length === 0 ? undefined : values.join(", "));
  return [
    [
      "Tool calls",
      callsMin === callsMax
        ? callsMax.toLocaleString("en")
        : `${callsMin.toLocaleString("en")} to ${callsMax.toLocaleString("en")}`,
    ],
    ["Writes", count(writesMax) ?? "none"],
    ["Destructive", count(destructiveMax)],
    ["Rows", count(rowsMax)],
    ["Questions", count(asksMax)],
    ["Toolkits", list(toolkits)],
    ["Accounts of", list(entities)],
    ["Not undone", list(notCompensable)],
  ];
}
