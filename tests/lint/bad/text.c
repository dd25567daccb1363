/* No licence. */
int x; // a comment, and blanks at the end 	
/* TODO: /work/main/x */
#if 0
#endif
/* xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx */
