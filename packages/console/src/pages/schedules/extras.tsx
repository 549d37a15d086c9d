import { useState } from "react";
import { JsonField } from "../../builder/json-field.tsx";
import { pointerTo } from "../../form/faults.ts";
import { numberOf } from "../../form/value.ts";
import { isObject } from "../../json/value.ts";
import { GroupFaults } from "../../ui/fields/field-group.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { startedBy } from "./definition.ts";
import { type DefinitionForm, faultAt, textInput, valueAt } from "./definition-form.ts";
import styles from "./extras.module.css";

/**
 * An optional value of a schedule. `add`: words of the button that adds it. `label`: words in front of the value. `isOfTimes`: true if only
 * schedules that start at times have it. `isRare`: true if it is offered after a press.
 */
type Extra = {
  readonly pointer: string;
  readonly add: string;
  readonly label: string;
  readonly placeholder: string;
  readonly isNumber?: true;
  readonly isOfTimes?: true;
  readonly isRare?: true;
};

const extras: readonly Extra[] = [
  {
    ...{ pointer: "/source/schedule/jitter", add: "Spread over a time", label: "Spread over", placeholder: "2m" },
    isOfTimes: true,
  },
  {
    ...{ pointer: "/pauseAfter", add: "Pause after failures", label: "Pause after failures in a row" },
    ...{ placeholder: "10", isNumber: true },
  },
  {
    ...{ pointer: "/budget/runs", add: "At most N runs a day", label: "Runs per day" },
    ...{ placeholder: "20", isNumber: true },
  },
  {
    ...{ pointer: "/when", add: "Only when…", label: "Only when", placeholder: "has(event.payload.id)" },
  },
  {
    ...{ pointer: "/source/schedule/endAt", add: "Until a date", label: "Until", placeholder: "2027-12-31T00:00:00Z" },
    isOfTimes: true,
  },
  {
    ...{ pointer: "/source/schedule/startAt", add: "From a date", label: "From", placeholder: "2027-01-01T00:00:00Z" },
    ...{ isOfTimes: true, isRare: true },
  },
  {
    ...{ pointer: "/overlap/max", add: "Several at once", label: "Concurrent runs", placeholder: "1 to 100" },
    ...{ isNumber: true, isRare: true },
  },
  {
    ...{ pointer: "/budget/toolCalls", add: "At most N calls a day", label: "Tool calls per day" },
    ...{ placeholder: "100", isNumber: true, isRare: true },
  },
  {
    ...{ pointer: "/budget/writes", add: "At most N writes a day", label: "Writes per day" },
    ...{ placeholder: "50", isNumber: true, isRare: true },
  },
];

/** Optional values that are written as JSON, with the words and the hints of their fields. */
const details: readonly (readonly [pointer: string, label: string, hint: string])[] = [
  [
    "/input",
    "Input of each run",
    'For a program that has an inputSchema, such as {"day": {"$ref": "fire.localDate"}}.',
  ],
  ["/rate", "Rate", 'Such as {"max": 10, "per": "1m"}. Extra runs wait.'],
];

/** Values that other parts of the page show, or that every definition has. */
const shownElsewhere: ReadonlySet<string> = new Set([
  ...["/version", "/title", "/timeZone", "/program", "/overlap/policy", "/$schema"],
  ...["cron", "every", "at"].map((name) => `/source/schedule/${name}`),
  ...["slug", "entity"].map((name) => `/source/trigger/${name}`),
  ...["call", "entity", "every", "args", "first", "per"].map((name) => `/source/poll/${name}`),
]);

/** Objects of the definition whose members have fields of their own. */
const opened: ReadonlySet<string> = new Set([
  ...["/source", "/source/schedule", "/source/trigger", "/source/poll", "/overlap", "/budget"],
]);

/** Draws the optional settings of a schedule: an input for each setting that has a value, and a button that adds each other setting. */
export function Extras({ form }: { form: DefinitionForm }) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const [isMore, setMore] = useState(false);
  const isOfTimes = !["trigger", "poll"].includes(startedBy(form.document.root));
  const offered = extras.filter((extra) => isOfTimes || extra.isOfTimes !== true);
  const isShown = ({ pointer }: Extra) =>
    valueAt(form, pointer) !== undefined || added.includes(pointer) || faultAt(form, pointer) !== undefined;
  const missing = offered.filter((extra) => !isShown(extra));
  const hidden = missing.filter(({ isRare }) => isRare === true && !isMore);
  return (
    <>
      <div className={styles["also"]}>
        <span className={styles["word"]}>Also</span>
        {offered.filter(isShown).map((extra) => (
          <ExtraChip
            key={extra.pointer}
            extra={extra}
            form={form}
            onRemove={() => {
              setAdded((old) => old.filter((one) => one !== extra.pointer));
              form.document.set(extra.pointer, undefined);
            }}
          />
        ))}
        {missing
          .filter((extra) => !hidden.includes(extra))
          .map(({ pointer, add }) => (
            <AddButton key={pointer} words={add} onPress={() => setAdded((old) => [...old, pointer])} />
          ))}
        {hidden.length > 0 && <AddButton words="More" onPress={() => setMore(true)} />}
      </div>
      <GroupFaults faults={extras.flatMap(({ pointer }) => faultAt(form, pointer) ?? [])} />
    </>
  );
}

function AddButton({ words, onPress }: { words: string; onPress: () => void }) {
  return (
    <button type="button" className={styles["add"]} onClick={onPress}>
      <Icon name="plus" size={12} />
      {words}
    </button>
  );
}

function ExtraChip({ extra, form, onRemove }: { extra: Extra; form: DefinitionForm; onRemove: () => void }) {
  const { pointer, label, placeholder, isNumber } = extra;
  const { value, fault, onChange } = textInput(form, pointer, label, isNumber === true ? numberOf : undefined);
  return (
    <span className={styles["chip"]}>
      <label className={styles["label"]}>
        {label}
        <input
          className={styles["input"]}
          value={value}
          placeholder={placeholder}
          aria-invalid={fault !== undefined}
          inputMode={isNumber === true ? "numeric" : undefined}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
      <button type="button" className={styles["remove"]} aria-label={`Remove ${label}`} onClick={onRemove}>
        <Icon name="cross" size={12} />
      </button>
    </span>
  );
}

/**
 * Draws the rarely used settings of a schedule, which the user writes as JSON. The section opens by itself if one of these settings has an
 * error.
 */
export function Details({ form }: { form: DefinitionForm }) {
  const known = new Set([...shownElsewhere, ...extras.map(({ pointer }) => pointer), ...details.map(([one]) => one)]);
  const unknown = unknownPointers(form.document.root, "", known).map(
    (pointer) => [pointer, wordsOf(pointer), ""] as const,
  );
  const fields = [...details, ...unknown];
  const set = fields.filter(([pointer]) => valueAt(form, pointer) !== undefined).map(([, label]) => label);
  return (
    <Disclosure
      initiallyOpen={fields.some(([pointer]) => faultAt(form, pointer) !== undefined)}
      summary={`Input, rate and other details of the schedule${set.length === 0 ? "" : `: ${set.join(", ")}`}`}
    >
      <Stack>
        {fields.map(([pointer, label, hint]) => (
          <JsonField
            key={pointer}
            document={form.document}
            pointer={pointer}
            label={label}
            hint={hint}
            fault={faultAt(form, pointer)}
          />
        ))}
      </Stack>
    </Disclosure>
  );
}

/** Returns the pointers of the values of a definition that no field knows. */
function unknownPointers(value: unknown, pointer: string, known: ReadonlySet<string>): readonly string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const inner = pointerTo(pointer, name);
    if (known.has(inner)) return [];
    return opened.has(inner) ? unknownPointers(value[name], inner, known) : [inner];
  });
}

/** Returns the name of a value of the definition, such as `schedule.catchUp`. */
function wordsOf(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/^source\//, "")
    .replaceAll("/", ".");
}
