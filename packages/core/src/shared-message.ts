const shared = new WeakSet<object>();

/**
 * Says that a message is answered again and again and never changed, so that whoever writes it may keep its text. Where it stands
 * inside others, the text of that part is kept.
 */
export function shareMessage<Message extends object>(message: Message): Message {
  shared.add(message);
  return message;
}

/** Whether a message was said to be one that never changes. */
export function isShared(message: object): boolean {
  return shared.has(message);
}
