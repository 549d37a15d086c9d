import type { ReactNode } from "react";
import type { IconName } from "../icon.tsx";

/** The properties of a dialog. */
export type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** Buttons at the end of the dialog, the main button last. */
  actions?: ReactNode;
  wide?: boolean;
  hideOnInteractOutside?: boolean;
};

/**
 * One entry of a menu. `checked`: set if the menu chooses one of several options; true for the chosen option. `note`: shown below the
 * entry's words.
 */
export type MenuEntry = {
  id: string;
  words: string;
  note?: string;
  icon?: IconName;
  checked?: boolean;
  onPress: () => void;
};

/** The properties of a menu. `label`: the accessible name of its button. `children`: what the button shows. */
export type MenuProps = {
  label: string;
  children: ReactNode;
  entries: readonly MenuEntry[];
  kind?: "plain" | "quiet";
};

/** One option of a select field. In a filter, the option with an empty `value` means that the filter is off. */
export type ChoiceOption = { value: string; words: string; note?: string };

/** The properties of a choice. */
export type ChoiceProps = {
  label: string;
  value: string;
  options: readonly ChoiceOption[];
  onChange: (value: string) => void;
};

/** The user's action on a button before the code of its menu was loaded. The menu then opens or gets the focus at once. */
export type Begun = "nothing" | "focused" | "pressed";
