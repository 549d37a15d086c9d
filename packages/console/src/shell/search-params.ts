import { readTime } from "@svc/core/time";

/** Reads one search parameter; undefined where its value is none that the page knows, so that a page survives any address. */
export type ParamReader<Value extends string = string> = (value: string) => Value | undefined;

/** Search parameters as a page has them: those that stand in the address, and are read. */
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

/** A time as RFC 3339 writes it. */
export const timeParam: ParamReader = (value) => (readTime(value) === undefined ? undefined : value);

/**
 * Reads the parameters of a page (`validateSearch` of its route). What it does not know is undefined, and not left out: the router would put
 * what stands in the address in its place.
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

/** The parameters in the text of an address. Each is a text; of a name that stands there twice the last counts. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Parameters as they stand in an address, with the `?`; empty for none. What is undefined is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  // Readable where it may be: an address is copied into messages, and a colon is allowed there.
  const text = new URLSearchParams(entries).toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}
