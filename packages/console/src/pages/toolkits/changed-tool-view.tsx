import { type ComponentProps, useId } from "react";
import { State } from "../../ui/values/state.tsx";
import { classWord } from "../../words/calls.ts";
import { changeWords } from "../../words/toolkits.ts";
import type { ChangedTool } from "./changed-tools.ts";
import styles from "./changes.module.css";
import { ClassSelect } from "./class-select.tsx";
import { QuotedText, Sides } from "./quoted-text.tsx";

/**
 * Draws the changes of one tool that come from its toolkit's source, such as an OpenAPI document. A box accepts the tool, and a list sets
 * its class. `onChoose`: undefined if the user may not accept it, or if the change is a text of the toolkit itself. `access`: undefined if
 * the user may not set the class.
 */
export function ChangedToolView({
  tool: { name, added, isGone, parts, isBreaking, isFlagged },
  isChosen,
  onChoose,
  access,
}: {
  tool: ChangedTool;
  isChosen: boolean;
  onChoose: ((isChosen: boolean) => void) | undefined;
  access: Omit<ComponentProps<typeof ClassSelect>, "tool"> | undefined;
}) {
  const id = useId();
  const shown = name === "" ? "Texts of the app" : <code>{name}</code>;
  return (
    <div className={styles["tool"]}>
      <div className={styles["head"]}>
        {onChoose === undefined ? (
          <b>{shown}</b>
        ) : (
          <>
            <input
              id={id}
              type="checkbox"
              checked={isChosen}
              onChange={({ target }) => onChoose(target.checked)}
              aria-describedby={`${id}-marks`}
            />
            <label htmlFor={id}>{shown}</label>
          </>
        )}
        <span id={`${id}-marks`} className={styles["head"]}>
          <State word={changeWords[added !== undefined ? "added" : isGone ? "gone" : "altered"]} />
          {added !== undefined && <State word={classWord(added.class)} />}
          {isBreaking && <State word={changeWords.breaking} />}
          {isFlagged && <State word={changeWords.flagged} />}
        </span>
        {access !== undefined && <ClassSelect tool={name} {...access} />}
      </div>
      {added !== undefined && <QuotedText text={added.description} />}
      {parts.map(({ field, before, after, breaking }) => (
        <Sides key={field} title={field} before={before} after={after} isBreaking={breaking} />
      ))}
    </div>
  );
}
