import { type Command, InvalidArgumentError } from "commander";

const perSecondMax = 5_000;

/** Reads a pace such as `50/s` as deliveries a second. Throws InvalidArgumentError. */
export function parsePace(text: string): number {
  const [, digits = ""] = /^(\d{1,4})(?:\/s)?$/.exec(text) ?? [];
  const perSecond = Number(digits);
  if (perSecond >= 1 && perSecond <= perSecondMax) return perSecond;
  throw new InvalidArgumentError(`expected deliveries a second, such as 50/s, up to ${perSecondMax}/s`);
}

/** Adds `--rate`. */
export function addRateOption(command: Command): Command {
  return command.option("--rate <pace>", "deliveries a second, such as 50/s", parsePace);
}
