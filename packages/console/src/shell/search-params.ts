import { readTime } from "@svc/core/time";

/**
 * A function that reads one search parameter of a page's address. It returns the value, or undefined if the value is invalid. Invalid values
 * are ignored, so that a page can be drawn for every address.
 */
export type ParamReader<Value extends string = string> = (value: string) => Value | undefined;

/** The valid search parameters of a page's address, by name. Its type follows from the functions that read them. */
export type SearchOf<Readers extends Record<string, ParamReader>> = {
  [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>> | undefined;
};

const textMax = 500;

/** Reader of a search parameter that is any text. Cuts the text at 500 characters. Returns undefined for an empty text. */
export const textParam: ParamReader = (value) => (value === "" ? undefined : value.slice(0, textMax));

/** Returns a reader of a search parameter that accepts only the given values. For any other value, the reader returns undefined. */
export function oneOfParam<const Value extends string>(values: readonly Value[]): ParamReader<Value> {
  return (value) => values.find((known) => known === value);
}

/** Reader of a search parameter that is a time in RFC 3339. Returns undefined for any other text. */
export const timeParam: ParamReader = (value) => (readTime(value) === undefined ? undefined : value);

/** Returns the function that reads a page's search parameters from its address. Invalid values become undefined. */
export function searchReader<Readers extends Record<string, ParamReader>>(
  readers: Readers,
): (raw: Record<string, unknown>) => SearchOf<Readers> {
  return (raw) =>
    Object.fromEntries(
      Object.entries(readers).flatMap(([name, read]) => {
        const value = raw[name];
        if (value === undefined) return [];
        // Without this entry, the router would copy an invalid value from the address.
        return [[name, typeof value === "string" ? read(value) : undefined]];
      }),
    ) as SearchOf<Readers>;
}

/** Returns the parameters of an address as texts. If a name occurs twice, the last value counts. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/**
 * Returns parameters as the text of an address, with a leading `?`. Leaves out undefined parameters. Returns an empty text if there are
 * none.
 */
export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  // Colons and slashes stay readable, because users copy addresses into messages. Both are allowed in this part of an address.
  const text = new URLSearchParams(entries).toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}
