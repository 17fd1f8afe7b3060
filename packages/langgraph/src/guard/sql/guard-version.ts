/** Goes up with every change to the functions or the triggers. A newer one replaces an older one. */
export const guardVersion = 1;
