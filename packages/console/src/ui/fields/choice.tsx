import { isoTime } from "@svc/core/time";
import { Suspense, useId } from "react";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { dayNames, rangeNames, rangeWords, spanWords, type TimeSpan } from "../../words/spans.ts";
import { dayStart } from "../../words/time.ts";
import { labelOf, type Word } from "../../words/word.ts";
import { buttonClass } from "../buttons/button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import { laterPart } from "../later-part.tsx";
import { useEarlyButton } from "../overlay/later.ts";
import type { ChoiceOption, ChoiceProps } from "../overlay/props.ts";
import styles from "./choice.module.css";

export type { ChoiceOption } from "../overlay/props.ts";

/** The option of a filter with which the user removes the filter. All values then pass. */
export const anyOption: ChoiceOption = { value: "", words: "any" };

/** Returns the options of a filter for these values. The first option is `any`, which removes the filter. */
export function anyOf(words: readonly (string | Word)[]): readonly ChoiceOption[] {
  const option = (word: string | Word) =>
    typeof word === "string" ? { value: word, words: word } : { value: word.word, words: labelOf(word) };
  return [anyOption, ...words.map(option)];
}

/**
 * A filter or a setting with a fixed set of values: a button that shows the chosen value, and a list of all values. A long list has a
 * search field.
 */
export function Choice(props: ChoiceProps) {
  const { loaded, begun, button } = useEarlyButton();
  const list = useId();
  const { label, value } = props;
  const chosen = chosenWords(props);
  const look = {
    className: classNames(buttonClass(), styles["button"], value !== "" && styles["on"]),
    "aria-label": `${label}: ${chosen}`,
    children: (
      <>
        <span aria-hidden="true">
          {label} <b>{chosen}</b>
        </span>
        <Icon name="chevronDown" size={14} />
      </>
    ),
  };
  if (loaded !== undefined) return <loaded.OptionList {...props} begun={begun} look={look} />;
  return (
    <button
      {...button}
      {...look}
      type="button"
      role="combobox"
      aria-haspopup="listbox"
      aria-expanded={false}
      aria-controls={list}
    />
  );
}

/** Returns the words of the chosen option; the value itself if no option has it. */
function chosenWords({ value, options }: ChoiceProps): string {
  return options.find((option) => option.value === value)?.words ?? value;
}

const anyTime = { value: "", words: "any time" };
const times = "times";

const SpanEnds = laterPart(() => import("./span-ends.tsx"));
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
