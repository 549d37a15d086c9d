import { type KeyboardEvent, type ReactNode, useId } from "react";
import styles from "./tabs.module.css";

/** Keys that choose another tab, with the index that each chooses. */
const keys: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** A row of tabs, of which one is open at a time. The page's address stores the open tab in a search parameter. */
export function Tabs<Id extends string>({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string;
  tabs: readonly { id: Id; words: string; panel: ReactNode }[];
  selected: Id;
  onSelect: (id: Id) => void;
}) {
  const own = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const move = keys[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const to =
      tabs[
        move(
          tabs.findIndex(({ id }) => id === selected),
          tabs.length,
        )
      ];
    if (to === undefined) return;
    event.preventDefault();
    onSelect(to.id);
    document.getElementById(`${own}-${to.id}`)?.focus();
  };
  const shown = tabs.find(({ id }) => id === selected);
  return (
    <>
      <div role="tablist" className={styles["list"]} aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, words }) => (
          <button
            key={id}
            id={`${own}-${id}`}
            type="button"
            role="tab"
            className={styles["tab"]}
            aria-selected={id === selected}
            {...(id === selected && { "aria-controls": `${own}-panel` })}
            tabIndex={id === selected ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {words}
          </button>
        ))}
      </div>
      {shown !== undefined && (
        <div
          key={shown.id}
          id={`${own}-panel`}
          role="tabpanel"
          className={styles["panel"]}
          aria-labelledby={`${own}-${shown.id}`}
        >
          {shown.panel}
        </div>
      )}
    </>
  );
}
