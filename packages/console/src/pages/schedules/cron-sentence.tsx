import { useState } from "react";
import { ChipInput, ChipSelect, ChipTicks, Sentence } from "../../ui/fields/chip-fields.tsx";
import { AreaField } from "../../ui/fields/field.tsx";
import type { DefinitionForm } from "./definition-form.ts";
import { faultAt, textInput, valueAt } from "./definition-form.ts";
import { asWeek, dayNames, daysOf, type RunDays, readCron, type TimeSentence, writeCron } from "./sentence.ts";
import type { SourceSentence } from "./source-sentences.tsx";

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
const pointer = "/source/schedule/cron";
const asCron = "cron";

/**
 * Draws the times at which a schedule runs as a sentence with inputs. Cron expressions that no such sentence can express are shown unchanged
 * in a text field.
 */
export function CronSentence({ form, rest }: SourceSentence) {
  const { document } = form;
  const value = valueAt(form, pointer);
  const expressions = Array.isArray(value) ? value.map(String) : [];
  const [isCron, setCron] = useState(false);
  const read = readCron(expressions);
  // The ticks of the days stay while the user changes them, also if they make a set with a name of its own, such as every weekday.
  const [isWeek, setWeek] = useState(false);
  const sentence = isCron || read === undefined ? undefined : isWeek ? { ...read, on: asWeek(read.on) } : read;
  const times = read?.times ?? ["09:00"];
  const write = (to: TimeSentence) => document.set(pointer, writeCron(to));
  return (
    <>
      <Sentence>
        On{" "}
        <ChipSelect
          label="Days"
          value={sentence?.on.every ?? asCron}
          options={dayChoices}
          onChange={(chosen) => {
            const on = dayChoices.find((choice) => choice.value === chosen)?.on;
            setCron(on === undefined);
            setWeek(on?.every === "week");
            if (on !== undefined) write({ on, times });
          }}
        />
        {sentence !== undefined && (
          <DaysAndTimes
            sentence={sentence}
            onChange={(to) => {
              setWeek(sentence.on.every === "week");
              write(to);
            }}
          />
        )}{" "}
        in <ZoneInput form={form} />
        {rest}.
      </Sentence>
      {sentence === undefined && (
        <AreaField
          label="Cron expressions"
          mono
          value={expressions.join("\n")}
          fault={faultAt(form, pointer)}
          onChange={(text) => document.set(pointer, text.split("\n"))}
          hint="Five fields: minute, hour, day, month, day of the week. One expression per line. The next times are shown in the preview."
        />
      )}
    </>
  );
}

/** Draws which of the days, and at which times. */
function DaysAndTimes({ sentence, onChange }: { sentence: TimeSentence; onChange: (to: TimeSentence) => void }) {
  const { on, times } = sentence;
  return (
    <>
      {on.every === "week" && (
        <ChipTicks
          label="Days of the week"
          options={[1, 2, 3, 4, 5, 6, 0].map((day) => ({ value: day, words: (dayNames[day] ?? "").slice(0, 3) }))}
          chosen={on.days}
          onChange={(days) => days.length > 0 && onChange({ on: daysOf([...days].sort()), times })}
        />
      )}
      {on.every === "month" && (
        <ChipSelect
          label="Day of the month"
          value={String(on.day)}
          options={monthDays}
          onChange={(day) => onChange({ on: { every: "month", day: Number(day) }, times })}
        />
      )}{" "}
      at{" "}
      {times.map((time, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a time has no id, and it changes while the user types it
        <span key={index}>
          {index > 0 && " and "}
          <TimeInput
            label={index === 0 ? "Time" : `Time ${index + 1}`}
            time={time}
            isOnly={times.length === 1}
            onChange={(to) => !times.includes(to) && onChange({ on, times: times.with(index, to) })}
          />
        </span>
      ))}
    </>
  );
}

/**
 * Draws a time of day. The only time of a sentence is written while the user types it. One of several is written when the user leaves the
 * field, because a half-typed time could be equal to another one, or change places with it.
 */
function TimeInput({
  label,
  time,
  isOnly,
  onChange,
}: {
  label: string;
  time: string;
  isOnly: boolean;
  onChange: (to: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  return (
    <ChipInput
      label={label}
      type="time"
      value={typed ?? time}
      onChange={(to) => {
        setTyped(to);
        if (isOnly && to !== "") onChange(to);
      }}
      onBlur={() => {
        setTyped(undefined);
        if (typed !== undefined && typed !== "") onChange(typed);
      }}
    />
  );
}

const monthDays = [
  ...Array.from({ length: 31 }, (_, index) => ({ value: String(index + 1), words: `day ${index + 1}` })),
  { value: "0", words: "the last day" },
];

const dayChoices: readonly { value: string; words: string; on?: RunDays }[] = [
  { value: "weekday", words: "every weekday", on: { every: "weekday" } },
  { value: "day", words: "every day", on: { every: "day" } },
  { value: "weekend", words: "every weekend day", on: { every: "weekend" } },
  { value: "week", words: "each week on", on: { every: "week", days: [1] } },
  { value: "month", words: "each month on", on: { every: "month", day: 1 } },
  { value: asCron, words: "times of a cron expression" },
];

/** Draws the time zone of a schedule's times inside a sentence. */
function ZoneInput({ form }: { form: DefinitionForm }) {
  const { value, fault, onChange } = textInput(form, "/timeZone", "Time zone");
  return (
    <ChipInput
      label="Time zone"
      value={value}
      placeholder="UTC"
      suggestions={zones}
      fault={fault !== undefined}
      onChange={onChange}
    />
  );
}
