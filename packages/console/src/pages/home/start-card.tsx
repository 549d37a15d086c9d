import type { GetStartResponse } from "@svc/gen/stats";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import type { IconName } from "../../ui/icon.tsx";
import { type KindColour, KindTile } from "../../ui/marks/tiles.tsx";
import { State } from "../../ui/values/state.tsx";
import type { Word } from "../../words/word.ts";
import styles from "./start.module.css";

/**
 * Properties of every card on the first-steps page; each card shows one step. `isDone`: true if the project has done the step. `onPress`:
 * called at each press of the card's button.
 */
export type CardProperties = {
  readonly projectId: string;
  readonly start: GetStartResponse;
  readonly isDone: boolean;
  readonly onPress: () => void;
};

const doneWord: Word = { word: "Done", tone: "ok", icon: "check", says: "This project has done this step." };

/** The frame of a card: picture, title, one sentence, the result, and the buttons. `note`: a last line, such as what the button does. */
export function StartCard({
  title,
  icon,
  colour,
  picture,
  says,
  isDone,
  note,
  result,
  isTall = false,
  children,
}: {
  title: string;
  icon: IconName;
  colour: KindColour;
  picture: ReactNode;
  says: string;
  isDone: boolean;
  note: string;
  result: ReactNode;
  /** True if the result needs the height of a field and a row. */
  isTall?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={classNames(styles["card"], isDone && styles["done"])} aria-labelledby={id}>
      <div className={styles["picture"]} aria-hidden>
        {picture}
      </div>
      <div className={styles["body"]}>
        <div className={styles["title"]}>
          <KindTile colour={colour} icon={icon} />
          <h3 id={id}>{title}</h3>
          {isDone && <State word={doneWord} />}
        </div>
        <p className={styles["says"]}>{says}</p>
        {/* The result of a press is announced, and its place has a height from the start, so that nothing below moves. */}
        <div className={classNames(styles["result"], isTall && styles["tall"])} aria-live="polite">
          {result}
        </div>
        <div className={styles["buttons"]}>{children}</div>
        <p className={styles["note"]}>{note}</p>
      </div>
    </section>
  );
}

/** A link that looks like a button. `isMain`: true for the main action of a card. */
export function CardLink({
  to,
  params,
  isMain = false,
  children,
}: {
  to: string;
  params: Readonly<Record<string, string>>;
  isMain?: boolean;
  children: string;
}) {
  return (
    <Link to={to} params={params as never} className={buttonClass(isMain ? "primary" : "quiet")}>
      {children}
    </Link>
  );
}
