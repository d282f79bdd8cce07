import mark from './mark.svg';
import styles from './shell.module.css';

/** The mark and the name. */
export const Brand = () => (
  <span className={styles.brand}>
    <img src={mark} alt="" width={22} height={22} />
    Signet
  </span>
);
