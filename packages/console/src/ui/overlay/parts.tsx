// Everything that needs the library of menus and dialogs. It is one file of the build, and is loaded after the first page.
import * as Ariakit from "@ariakit/react";
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { buttonClass } from "../buttons/button.tsx";
import { classNames } from "../class-names.ts";
import styles from "../fields/choice.module.css";
import { inputClass } from "../fields/field.tsx";
import { Icon } from "../icon.tsx";
import dialog from "./dialog.module.css";
import menu from "./menu.module.css";
import type { Begun, ChoiceOption, ChoiceProps, DialogProps, MenuEntry, MenuProps } from "./props.ts";

export { OpenPalette } from "./open-palette.tsx";

/** Draws a dialog with the library that is loaded later. The component `Dialog` loads this one and describes its properties. */
export function OpenDialog({
  open,
  onClose,
  title,
  children,
  actions,
  wide = false,
  hideOnInteractOutside = true,
}: DialogProps) {
  return (
    <Ariakit.Dialog
      open={open}
      onClose={onClose}
      unmountOnHide
      hideOnInteractOutside={hideOnInteractOutside}
      backdrop={<div className={dialog["backdrop"]} />}
      className={classNames(dialog["dialog"], wide && dialog["wide"])}
    >
      <Ariakit.DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
      {actions !== undefined && <div className={dialog["actions"]}>{actions}</div>}
    </Ariakit.Dialog>
  );
}

/**
 * Draws a button and its menu with the library that is loaded later. `begun`: the user's action on the button before it was loaded. The
 * component `Menu` describes the other properties.
 */
export function OpenMenu({ label, children, entries, kind = "quiet", begun }: MenuProps & { begun: Begun }) {
  const button = useRef<HTMLButtonElement>(null);
  useBegun(button, begun);
  return (
    <Ariakit.MenuProvider>
      <Ariakit.MenuButton ref={button} className={buttonClass(kind)} aria-label={label}>
        {children}
      </Ariakit.MenuButton>
      <Ariakit.Menu className={menu["menu"]} gutter={4} unmountOnHide portal aria-label={label}>
        {entries.map((entry) => (
          <MenuLine key={entry.id} entry={entry} />
        ))}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}

function MenuLine({ entry: { words, note, icon, checked, onPress } }: { entry: MenuEntry }) {
  const text = (
    <span>
      {words}
      {note !== undefined && <span className={menu["note"]}> {note}</span>}
    </span>
  );
  if (checked === undefined) {
    return (
      <Ariakit.MenuItem className={menu["item"]} onClick={onPress}>
        {icon !== undefined && <Icon name={icon} />}
        {text}
      </Ariakit.MenuItem>
    );
  }
  return (
    <Ariakit.MenuItem className={menu["item"]} role="menuitemradio" aria-checked={checked} onClick={onPress}>
      <span className={menu["check"]}>{checked && <Icon name="check" />}</span>
      {text}
    </Ariakit.MenuItem>
  );
}

/** Minimum number of options for which a choice has a search field. */
const searchedFrom = 9;

/**
 * Draws a select field with its list of options. `look`: properties of its button. `begun`: the user's action on the button before this code
 * was loaded.
 */
export function OptionList({
  label,
  value,
  options,
  onChange,
  begun,
  look,
}: ChoiceProps & { begun: Begun; look: { className: string; "aria-label": string; children: ReactNode } }) {
  const button = useRef<HTMLButtonElement>(null);
  useBegun(button, begun);
  const [search, setSearch] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [isSearched, setSearched] = useState(options.length >= searchedFrom);
  // Options may arrive while the list is open. The open list then stays as it is; the search field appears or disappears when the list is
  // opened next time.
  if (!isOpen && isSearched !== options.length >= searchedFrom) setSearched(options.length >= searchedFrom);
  const found = options.filter(({ words, note = "" }) =>
    `${words} ${note}`.toLowerCase().includes(search.toLowerCase()),
  );
  const list = found.map((option) => <Option key={option.value} option={option} searched={isSearched} />);
  const select = (
    <Ariakit.SelectProvider value={value} setValue={onChange} open={isOpen} setOpen={setOpen}>
      <Ariakit.Select ref={button} {...look} />
      <Ariakit.SelectPopover className={menu["menu"]} gutter={4} unmountOnHide portal aria-label={label}>
        {isSearched ? (
          <>
            <Ariakit.Combobox
              className={classNames(inputClass, styles["search"])}
              placeholder="Search"
              aria-label={`Search ${label}`}
              autoSelect
            />
            <Ariakit.ComboboxList aria-label={label}>{list}</Ariakit.ComboboxList>
            {found.length === 0 && <div className={styles["none"]}>Nothing matches.</div>}
          </>
        ) : (
          list
        )}
      </Ariakit.SelectPopover>
    </Ariakit.SelectProvider>
  );
  if (!isSearched) return select;
  return (
    <Ariakit.ComboboxProvider resetValueOnHide setValue={setSearch}>
      {select}
    </Ariakit.ComboboxProvider>
  );
}

function Option({ option: { value, words, note }, searched }: { option: ChoiceOption; searched: boolean }) {
  return (
    <Ariakit.SelectItem value={value} className={menu["item"]} {...(searched && { render: <Ariakit.ComboboxItem /> })}>
      <span className={menu["check"]}>
        <Ariakit.SelectItemCheck />
      </span>
      <span>
        {words}
        {note !== undefined && <span className={menu["note"]}> {note}</span>}
      </span>
    </Ariakit.SelectItem>
  );
}

/** Goes on with what the user has begun with the button that this button replaces. */
function useBegun(button: RefObject<HTMLButtonElement | null>, begun: Begun): void {
  const first = useRef(begun);
  useLayoutEffect(() => {
    if (first.current === "nothing") return;
    button.current?.focus();
    if (first.current === "pressed") button.current?.click();
    first.current = "nothing";
  }, [button]);
}
