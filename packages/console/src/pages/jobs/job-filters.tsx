import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { ToggleButton } from "../../ui/toggle-button.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { jobStatuses, jobStatusWord } from "../../words/jobs.ts";
import { rangeNames, rangeWords } from "../../words/ranges.ts";
import { isFiltered, type JobsSearch, presets, presetWords } from "./filters.ts";

const anything = { value: "", words: "any" };
const modes = [anything, ...["live", "simulate", "rehearse"].map((mode) => ({ value: mode, words: mode }))];
const statusOptions = [
  anything,
  ...jobStatuses.map((status) => ({ value: jobStatusWord(status).word, words: jobStatusWord(status).word })),
];

/** The filters of the list of jobs: presets first, since they are what is looked for most. */
export function JobFilters({ search, onChange }: { search: JobsSearch; onChange: (change: JobsSearch) => void }) {
  return (
    <>
      {presets.map((preset) => (
        <ToggleButton
          key={preset}
          on={search.preset === preset}
          onPress={() => onChange({ preset: search.preset === preset ? undefined : preset, status: undefined })}
        >
          {presetWords(preset)}
        </ToggleButton>
      ))}
      <TypedFilter
        short
        label="Title"
        value={search.title ?? ""}
        onChange={(title) => onChange({ title: title || undefined })}
      />
      <Choice
        label="Status"
        value={search.status ?? ""}
        options={statusOptions}
        onChange={(status) => onChange({ status: status || undefined, preset: undefined })}
      />
      <Choice
        label="Mode"
        value={search.mode ?? ""}
        options={modes}
        onChange={(mode) =>
          onChange({ mode: (["live", "simulate", "rehearse"] as const).find((name) => name === mode) })
        }
      />
      <Choice
        label="Submitted"
        value={search.range ?? ""}
        options={[
          { value: "", words: "any time" },
          ...rangeNames.map((range) => ({ value: range, words: rangeWords(range) })),
        ]}
        onChange={(range) => onChange({ range: rangeNames.find((name) => name === range) })}
      />
      {search.skill !== undefined && (
        <ToggleButton on onPress={() => onChange({ skill: undefined })}>
          {search.skill}
        </ToggleButton>
      )}
      {isFiltered(search) && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(noFilters)}>
          Clear filters
        </Button>
      )}
    </>
  );
}

/** What clears every filter. */
export const noFilters: JobsSearch = {
  preset: undefined,
  status: undefined,
  mode: undefined,
  range: undefined,
  title: undefined,
  skill: undefined,
};
