/* No licence. */
int x; // a comment, and blanks at the end 	
/* TODO: /srv/build/tree/x */
#if 0
#endif
/* xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx */
