import { anyOf, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { ToggleButton } from "../../ui/toggle-button.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { jobStatuses, jobStatusWord } from "../../words/jobs.ts";
import { noSpan } from "../../words/spans.ts";
import { isFiltered, type JobsSearch, presets, presetWords } from "./filters.ts";

const modes = anyOf(["live", "simulate", "rehearse"]);
const statusOptions = anyOf(jobStatuses.map((status) => jobStatusWord(status).word));

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
      <SpanChoice label="Submitted" span={search} onChange={onChange} />
      {search.skill !== undefined && (
        <ToggleButton on onPress={() => onChange({ skill: undefined })}>
          {search.skill}
        </ToggleButton>
      )}
      {isFiltered(search) && <ClearFilters onPress={() => onChange(noFilters)} />}
    </>
  );
}

/** What clears every filter. */
export const noFilters: JobsSearch = {
  preset: undefined,
  status: undefined,
  mode: undefined,
  ...noSpan,
  title: undefined,
  skill: undefined,
};
