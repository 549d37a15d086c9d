import * as Ariakit from "@ariakit/react";
import type { ReactNode } from "react";
import styles from "./tabs.module.css";

/** A row of tabs. One tab is shown at a time; the page stores which one in a search parameter. */
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
  return (
    <Ariakit.TabProvider selectedId={selected} setSelectedId={(id) => id != null && onSelect(id as Id)}>
      <Ariakit.TabList className={styles["list"]} aria-label={label}>
        {tabs.map(({ id, words }) => (
          <Ariakit.Tab key={id} id={id} className={styles["tab"]}>
            {words}
          </Ariakit.Tab>
        ))}
      </Ariakit.TabList>
      {tabs.map(({ id, panel }) => (
        <Ariakit.TabPanel key={id} tabId={id} className={styles["panel"]} unmountOnHide>
          {panel}
        </Ariakit.TabPanel>
      ))}
    </Ariakit.TabProvider>
  );
}
