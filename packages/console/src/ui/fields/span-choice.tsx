import { usePreferences } from "../../shell/preferences.ts";
import { rangeNames, rangeWords } from "../../words/ranges.ts";
import { type Span, spanWords } from "../../words/spans.ts";
import { Choice } from "./choice.tsx";

const anyTime = { value: "", words: "any time" };
const times = "times";

/** The filter of a list by time: how far back, or the two times that an address names. */
export function SpanChoice({ label, span, onChange }: { label: string; span: Span; onChange: (span: Span) => void }) {
  const { zone } = usePreferences();
  const named = spanWords(span, zone);
  return (
    <Choice
      label={label}
      value={named === undefined ? (span.range ?? "") : times}
      options={[
        anyTime,
        ...(named === undefined ? [] : [{ value: times, words: named }]),
        ...rangeNames.map((range) => ({ value: range, words: rangeWords(range) })),
      ]}
      onChange={(value) => {
        if (value === times) return;
        onChange({ range: rangeNames.find((name) => name === value), since: undefined, until: undefined });
      }}
    />
  );
}
