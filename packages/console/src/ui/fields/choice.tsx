import * as Ariakit from "@ariakit/react";
import { isoTime } from "@svc/core/time";
import { lazy, Suspense, useState } from "react";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { dayNames, rangeNames, rangeWords, spanWords, type TimeSpan } from "../../words/spans.ts";
import { dayStart } from "../../words/time.ts";
import { labelOf, type Word } from "../../words/word.ts";
import { buttonClass } from "../buttons/plain-button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import menu from "../overlay/menu.module.css";
import styles from "./choice.module.css";
import { inputClass } from "./field.tsx";

/** One option of a choice. In a filter, an empty `value` stands for any value. */
export type ChoiceOption = { value: string; words: string; note?: string };

/** The option of a filter with which the user removes the filter. All values then pass. */
export const anyOption: ChoiceOption = { value: "", words: "any" };

/** Returns the options of a filter for these words. The first option is `any`. */
export function anyOf(words: readonly (string | Word)[]): readonly ChoiceOption[] {
  const option = (word: string | Word) =>
    typeof word === "string" ? { value: word, words: word } : { value: word.word, words: labelOf(word) };
  return [anyOption, ...words.map(option)];
}

/** Minimum number of options for which a choice has a search field. */
const searchedFrom = 9;

/**
 * A filter or a setting with a fixed set of values: a button that shows the chosen value, and a list of all values. A long list has a
 * search field.
 */
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly ChoiceOption[];
  onChange: (value: string) => void;
}) {
  const [search, setSearch] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [isSearched, setSearched] = useState(options.length >= searchedFrom);
  // Options may arrive while the list is open. The open list then stays as it is; the search field appears or disappears when the list is
  // opened next time.
  if (!isOpen && isSearched !== options.length >= searchedFrom) setSearched(options.length >= searchedFrom);
  const chosen = options.find((option) => option.value === value)?.words ?? value;
  const found = options.filter(({ words, note = "" }) =>
    `${words} ${note}`.toLowerCase().includes(search.toLowerCase()),
  );
  const list = found.map((option) => <Option key={option.value} option={option} searched={isSearched} />);
  const select = (
    <Ariakit.SelectProvider value={value} setValue={onChange} open={isOpen} setOpen={setOpen}>
      <Ariakit.Select
        className={classNames(buttonClass(), styles["button"], value !== "" && styles["on"])}
        aria-label={`${label}: ${chosen}`}
      >
        <span aria-hidden="true">
          {label} <b>{chosen}</b>
        </span>
        <Icon name="chevronDown" />
      </Ariakit.Select>
      <Ariakit.SelectPopover className={menu["menu"]} gutter={4} unmountOnHide portal aria-label={label}>
        {isSearched ? (
          <>
            <Ariakit.Combobox
              className={classNames(inputClass, styles["search"])}
              placeholder="Search"
              aria-label={`Search ${label}`}
              autoSelect
            />
            <Ariakit.ComboboxList aria-label={label}>{list}</Ariakit.ComboboxList>
            {found.length === 0 && <div className={styles["none"]}>Nothing matches.</div>}
          </>
        ) : (
          list
        )}
      </Ariakit.SelectPopover>
    </Ariakit.SelectProvider>
  );
  if (!isSearched) return select;
  return (
    <Ariakit.ComboboxProvider resetValueOnHide setValue={setSearch}>
      {select}
    </Ariakit.ComboboxProvider>
  );
}

function Option({ option: { value, words, note }, searched }: { option: ChoiceOption; searched: boolean }) {
  return (
    <Ariakit.SelectItem value={value} className={menu["item"]} {...(searched && { render: <Ariakit.ComboboxItem /> })}>
      <span className={menu["check"]}>
        <Ariakit.SelectItemCheck />
      </span>
      <span>
        {words}
        {note !== undefined && <span className={menu["note"]}> {note}</span>}
      </span>
    </Ariakit.SelectItem>
  );
}

const anyTime = { value: "", words: "any time" };
const times = "times";

const SpanEnds = lazy(() => import("./span-ends.tsx"));
const minuteMs = 60_000;
const [hour, ...longer] = rangeNames;
const shownRanges = [...(hour === undefined ? [] : [hour]), ...dayNames, ...longer];

/**
 * The time filter of a list. It offers ranges that end now, such as the last 24 hours. It also shows a start or end time that the page's
 * URL contains.
 */
export function SpanChoice({
  label,
  span,
  onChange,
}: {
  label: string;
  span: TimeSpan;
  onChange: (span: TimeSpan) => void;
}) {
  const { zone } = usePreferences();
  const now = useNow(minuteMs);
  const named = spanWords(span, zone);
  return (
    <>
      <Choice
        label={label}
        value={named === undefined ? (span.range ?? "") : times}
        options={[
          anyTime,
          ...(named === undefined ? [] : [{ value: times, words: named }]),
          ...shownRanges.map((range) => ({ value: range, words: rangeWords(range) })),
          ...(named === undefined ? [{ value: times, words: "custom" }] : []),
        ]}
        onChange={(value) => {
          if (value === times && named !== undefined) return;
          const since = value === times ? isoTime(dayStart(now, zone)) : undefined;
          onChange({ range: shownRanges.find((name) => name === value), since, until: undefined });
        }}
      />
      <Suspense>{named !== undefined && <SpanEnds span={span} zone={zone} onChange={onChange} />}</Suspense>
    </>
  );
}
