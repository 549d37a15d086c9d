import { readTime } from "@svc/core/time";

/** Reads one search parameter; undefined if the page does not know the value, so that a page works with any address. */
export type ParamReader<Value extends string = string> = (value: string) => Value | undefined;

/** The search parameters of a page that are set in the address and valid. */
export type SearchOf<Readers extends Record<string, ParamReader>> = {
  [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>> | undefined;
};

const textMax = 500;

/** Any text that is not empty, cut at 500 characters. */
export const textParam: ParamReader = (value) => (value === "" ? undefined : value.slice(0, textMax));

/** One of these values. */
export function oneOfParam<const Value extends string>(values: readonly Value[]): ParamReader<Value> {
  return (value) => values.find((known) => known === value);
}

/** A time in RFC 3339. */
export const timeParam: ParamReader = (value) => (readTime(value) === undefined ? undefined : value);

/**
 * Reads the parameters of a page (`validateSearch` of its route). Unknown ones are set to undefined instead of left out: the router would
 * otherwise take them from the address.
 */
export function searchReader<Readers extends Record<string, ParamReader>>(
  readers: Readers,
): (raw: Record<string, unknown>) => SearchOf<Readers> {
  return (raw) =>
    Object.fromEntries(
      Object.entries(readers).flatMap(([name, read]) => {
        const value = raw[name];
        if (value === undefined) return [];
        return [[name, typeof value === "string" ? read(value) : undefined]];
      }),
    ) as SearchOf<Readers>;
}

/** Returns the parameters of an address. Each is a text; if a name occurs twice, the last one counts. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Returns the parameters as the text of an address, with the `?`; empty if there are none. Undefined ones are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  // Kept readable, because users copy addresses into messages; a colon is allowed there.
  const text = new URLSearchParams(entries).toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}
