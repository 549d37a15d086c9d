import type { ReactNode } from "react";
import { Choice, type ChoiceOption, SpanChoice } from "../ui/fields/choice.tsx";
import { TypedFilter } from "../ui/fields/suggest-field.tsx";
import { Switch } from "../ui/fields/switch.tsx";
import { ClearFilters } from "../ui/rows/list-states.tsx";

/** Properties that every part of a list page gets. A part is, for example, the filters or the panel of the open row. */
export type ListPart<Row, Search> = {
  /** Id of the project whose data the page shows. Empty on the administrator's pages, which belong to no project. */
  projectId: string;
  search: Search;
  /** Sets search parameters in the page's address. Parameters that are not given stay unchanged. */
  change: (to: Search) => void;
  rows: readonly Row[];
  /** Reads all loaded rows of the list again. */
  reload: () => void;
};

/** The type of a React component that draws a part of a page and takes the properties `Props`. */
export type PagePart<Props> = (props: Props) => ReactNode;

/** The search parameters in the address of any page of the console, as texts by name. */
export type AnySearch = Record<string, string | undefined>;

/** The filter of one search parameter: its kind and its label. A filter may also be a component, which draws itself. */
type ListFilter<Row, Search> =
  | PagePart<ListPart<Row, Search>>
  /** A text field. `suggestion`: returns the text of a row that the field suggests to the user. */
  | { typed: string; placeholder?: string; short?: boolean; suggestion?: (row: Row) => string }
  /**
   * A filter of a list in which the user chooses one value. The values are a fixed list, or the result of a React hook. `also`: search
   * parameters that are set together with the chosen value.
   */
  | { choice: string; options: Options | ((part: ListPart<Row, Search>) => Options); also?: Search }
  /** A choice of a time range. It sets the search parameters `range`, `since` and `until`. */
  | { span: string }
  /** A switch that is on by default. `off` is the value of the parameter when the switch is off. */
  | { switch: string; off: string }
  | { switch: string; on: string };

type Options = readonly ChoiceOption[];

/** The filters of a list, by the search parameter that each filter sets. They are drawn in this order. */
export type ListFilters<Row, Search> = { [Name in keyof Search]?: ListFilter<Row, Search> };

/** Draws the filters of a list. If `isClearable`, a button that clears all filters is shown while a filter is set. */
export function FilterRow<Row>({
  filters,
  isClearable,
  part,
}: {
  filters: ListFilters<Row, AnySearch>;
  isClearable: boolean;
  part: ListPart<Row, AnySearch>;
}) {
  const { search, change } = part;
  const named = Object.entries(filters).flatMap(([name, filter]) => (filter === undefined ? [] : [{ name, filter }]));
  const cleared = named.flatMap(({ name, filter }) => {
    // A switch changes how the list is shown and filters no rows, so clearing the filters leaves it unchanged.
    if ("switch" in filter) return [];
    return "span" in filter ? [name, "since", "until"] : [name];
  });
  return (
    <>
      {named.map(({ name, filter }) => (
        <Filter key={name} name={name} filter={filter} part={part} />
      ))}
      {isClearable && cleared.some((name) => search[name] !== undefined) && (
        <ClearFilters onPress={() => change(Object.fromEntries(cleared.map((name) => [name, undefined])))} />
      )}
    </>
  );
}

function Filter<Row>({
  name,
  filter,
  part,
}: {
  name: string;
  filter: ListFilter<Row, AnySearch>;
  part: ListPart<Row, AnySearch>;
}) {
  const { search, change, rows } = part;
  const value = search[name] ?? "";
  const set = (to: string, also: AnySearch = {}) => change({ [name]: to || undefined, ...also });
  if (typeof filter === "function") {
    const Own = filter;
    return <Own {...part} />;
  }
  if ("span" in filter) return <SpanChoice label={filter.span} span={search} onChange={change} />;
  if ("typed" in filter) {
    const { typed, suggestion, ...look } = filter;
    const suggestions = suggestion && [...new Set(rows.map(suggestion))].toSorted();
    return (
      <TypedFilter
        {...look}
        {...(suggestions && { suggestions })}
        label={typed}
        value={value}
        onChange={(to) => set(to)}
      />
    );
  }
  if ("choice" in filter) {
    const options = typeof filter.options === "function" ? filter.options(part) : filter.options;
    return <Choice label={filter.choice} value={value} options={options} onChange={(to) => set(to, filter.also)} />;
  }
  const [named, isOn] = "on" in filter ? [filter.on, true] : [filter.off, false];
  return (
    <Switch label={filter.switch} on={(value === named) === isOn} onChange={(on) => set(on === isOn ? named : "")} />
  );
}
